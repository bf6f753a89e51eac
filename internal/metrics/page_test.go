package metrics

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declaredMetrics returns what [NewSet] declares: kind and labels by name.
func declaredMetrics(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "metrics.go", nil, 0)
	require.NoError(t, err)
	declared := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(method.Sel.Name, "New") {
			return true
		}
		var labels []string
		for _, arg := range call.Args[1:] {
			label := literal(arg)
			if label == "" {
				label = arg.(*ast.Ident).Name // the constant is called as its value
			}
			labels = append(labels, "`"+label+"`")
		}
		declared[literal(call.Args[0])] = strings.ToLower(strings.TrimPrefix(method.Sel.Name, "New")) + " | " + strings.Join(labels, ", ")
		return true
	})
	require.NotEmpty(t, declared)
	return declared
}

// literal returns the text of a literal; empty for anything else.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	unquoted, _ := strconv.Unquote(lit.Value)
	return unquoted
}

// TestMetricsPage holds docs/metrics.md to the code: every metric is there with
// its kind and labels, and the alerts and the table of Debezium's metrics name
// none that is not.
func TestMetricsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	operations, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	declared := declaredMetrics(t)
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(sqlserver_cdc_\\w+)` \\| ([^|]+ \\| [^|]+) \\|").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = row[2]
	}
	assert.Equal(t, declared, listed)
	for _, name := range regexp.MustCompile(`sqlserver_cdc_\w+`).FindAllString(string(page)+string(operations), -1) {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_total"), "_bucket")
		assert.Contains(t, declared, base)
	}
}

// jmxMetrics are the attributes of Debezium's beans.
// Source: Debezium's documentation of the connector, "Monitoring"; its MXBeans.
var jmxMetrics = strings.Fields(`
QueueTotalCapacity QueueRemainingCapacity MaxQueueSizeInBytes CurrentQueueSizeInBytes Connected
LastEvent MilliSecondsSinceLastEvent TotalNumberOfEventsSeen TotalNumberOfCreateEventsSeen
TotalNumberOfUpdateEventsSeen TotalNumberOfDeleteEventsSeen NumberOfEventsFiltered NumberOfErroneousEvents
CapturedTables NumberOfTruncateEventsSeen TotalTableCount RemainingTableCount SnapshotRunning SnapshotPaused
SnapshotCompleted SnapshotAborted SnapshotSkipped SnapshotDurationInSeconds SnapshotPausedDurationInSeconds
RowsScanned TableChunkCounts TableChunksCompletedCounts ChunkId ChunkFrom ChunkTo TableFrom TableTo
MilliSecondsBehindSource SourceEventPosition NumberOfCommittedTransactions LastTransactionId
NumberOfUnchangedEventsSkipped MilliSecondsBehindSourceMin MilliSecondsBehindSourceMax
MilliSecondsBehindSourceAverage MilliSecondsBehindSourceP50 MilliSecondsBehindSourceP95
MilliSecondsBehindSourceP99 Status RecoveryStartTime ChangesRecovered ChangesApplied
MilliSecondsSinceLastRecoveredChange MilliSecondsSinceLastAppliedChange LastRecoveredChange LastAppliedChange`)

// Every metric of Debezium's has its row.
func TestMetricsPage_Debezium(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "\n## From Debezium's metrics\n")
	require.True(t, found)
	var names []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\w+(?:, \w+)*) \|`).FindAllStringSubmatch(table, -1) {
		names = append(names, strings.Split(row[1], ", ")...)
	}
	names = names[1:] // the table's head
	assert.ElementsMatch(t, jmxMetrics, names)
}
