package debezium

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canonicalOf is a change of topic p.t with that value.
func canonicalOf(t *testing.T, value string) Canonical {
	t.Helper()
	c, err := canonical(Record{Topic: "p.t", Key: json.RawMessage(`{"id":1}`), Value: json.RawMessage(value)})
	require.NoError(t, err)
	return c
}

func TestCompare(t *testing.T) {
	const base = `{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"name"},{"type":"string","optional":true,"field":"v"}],"optional":false,"name":"p.t"},"payload":{"op":"c","after":{"name":1,"v":"\u0001"},"ts_ms":5}}`
	tests := []struct {
		name, old, now string
		want           []string
	}{
		{"nothing", "", "", nil},
		{"the connector's clock", `"ts_ms":5`, `"ts_ms":6`, nil},
		{"a value", `"name":1`, `"name":2`, []string{"value/payload/after/name: Debezium 1, ours 2"}},
		{"how a text is written", `"\u0001"`, `"\u001F"`, []string{`value/payload/after/v: Debezium "\u0001", ours "\u001F"`}},
		{"a member less", `,"v":"\u0001"`, ``, []string{`value/payload/after/v: Debezium "\u0001", ours absent`}},
		{"a member more", `"op":"c"`, `"op":"c","x":{}`, []string{"value/payload/x: Debezium absent, ours {}"}},
		{"the order of members", `{"name":1,"v":"\u0001"}`, `{"v":"\u0001","name":1}`, []string{"value/payload/after/order: Debezium  name v, ours  v name"}},
		{"a field of a schema", `"optional":true`, `"optional":false`, []string{"value/schema/fields/v/optional: Debezium true, ours false"}},
		{"the name of a schema", `"name":"p.t"`, `"name":"q"`, []string{`value/schema/name: Debezium "p.t", ours "q"`}},
		{"null for an object", `{"name":1,"v":"\u0001"}`, `null`, []string{`value/payload/after: Debezium {"name":1,"v":"\u0001"}, ours null`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range Compare(canonicalOf(t, base), canonicalOf(t, strings.Replace(base, tt.old, tt.now, 1))) {
				got = append(got, d.String())
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestGolden_RoundTrip(t *testing.T) {
	records := []Canonical{
		canonicalOf(t, `{"schema":{"type":"struct","name":"a<b"},"payload":{"op":"c","after":{"v":"\uD83D\uDE00"}}}`),
		canonicalOf(t, `{"schema":{"type":"struct","name":"a<b"},"payload":{"op":"d","after":null}}`),
		canonicalOf(t, `{"op":"u","after":{}}`),
		canonicalOf(t, `null`),
	}
	var golden bytes.Buffer
	require.NoError(t, WriteGolden(&golden, records))
	assert.Equal(t, 5, strings.Count(golden.String(), "\n"), "four records, and one schema that two of them have")
	read, err := ReadGolden(&golden)
	require.NoError(t, err)
	require.Len(t, read, len(records))
	for i := range records {
		assert.Empty(t, Compare(records[i], read[i]))
		assert.Equal(t, records[i].outline(), read[i].outline())
	}
	for _, bad := range []string{`{"kind":"change"}`, `{"kind":"change","topic":"t","key":{"schema":7,"payload":1}}`, `[`} {
		_, err := ReadGolden(strings.NewReader(bad))
		assert.ErrorContains(t, err, "line 1", bad)
	}
}

func TestDifferences(t *testing.T) {
	d, err := ReadDifferences(strings.NewReader(`
- what: a
  debezium: b
  here: c
  why: d
  shows:
    - {path: value/(x|y), values: [["1", "2"], [absent, "3"]]}
    - {scenarios: [one, "two/.*"], path: value/at, rule: a second earlier}
    - {scenarios: [one], left_out: r p.t}
    - {scenarios: [one], added: tombstone p.t, nth: 2}
    - {scenarios: [one], ends: is gone}
    - {scenarios: [one], failure: ours}
`))
	require.NoError(t, err)
	assert.Len(t, d.Unseen(), 7, "one for each pattern of scenarios")
	assert.True(t, d.Intends("any", Difference{Path: "value/x", Debezium: "1", Ours: "2"}))
	assert.True(t, d.Intends("any", Difference{Path: "value/y", Debezium: absent, Ours: "3"}))
	assert.False(t, d.Intends("any", Difference{Path: "value/x", Debezium: "1", Ours: "3"}), "not a pair")
	assert.False(t, d.Intends("any", Difference{Path: "value/xx", Debezium: "1", Ours: "2"}), "not the whole path")
	late := Difference{Path: "value/at", Debezium: `"1970-01-01T00:00:00.5+01:00"`, Ours: `"1969-12-31T23:59:59.5+01:00"`}
	assert.False(t, d.Intends("three", late), "another scenario")
	assert.True(t, d.Intends("two/a", late))
	assert.False(t, d.LeavesOut("one", Canonical{op: "c", Topic: "p.t"}, 1))
	assert.True(t, d.LeavesOut("one", Canonical{op: "r", Topic: "p.t"}, 1))
	assert.True(t, d.Adds("one", Canonical{Kind: KindTombstone, Topic: "p.t"}, 2))
	assert.False(t, d.Adds("one", Canonical{Kind: KindTombstone, Topic: "p.t"}, 1), "not the second")
	assert.False(t, d.Ends("one", assert.AnError))
	assert.Equal(t, "ours", d.Failure("one", "theirs"))
	assert.Equal(t, "theirs", d.Failure("two/a", "theirs"))
	assert.Equal(t, []string{"a: value/at in ^(?:one)$", "a: our end: is gone in ^(?:one)$"}, d.Unseen())
}

func TestReadDifferences_Refuses(t *testing.T) {
	const head = "- {what: a, debezium: b, here: c, why: d, shows: ["
	for text, want := range map[string]string{
		"- {what: a}":                     "are wanted",
		head + "]}":                       "either shows or test",
		head + "], test: x}":              "why no record shows it",
		head + "{path: x}]}":              "either values or a rule",
		head + "{path: x, rule: guess}]}": "unknown rule",
		head + "{path: x, ends: y}]}":     "want one of",
		head + "{path: '(', rule: a}]}":   "missing closing",
		head + "{paths: x}]}":             "not found in type",
	} {
		_, err := ReadDifferences(strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// TestDisagreement_Transactions changes the records of transactions in what our
// input emits, and wants each change noticed: also where our END has no
// counterpart.
func TestDisagreement_Transactions(t *testing.T) {
	transactional := func(r Canonical) bool { return r.Kind == KindTransaction }
	mutations := []struct {
		name   string
		mutate func(records []Canonical, i int) []Canonical
	}{
		{"missing", func(records []Canonical, i int) []Canonical { return slices.Delete(records, i, i+1) }},
		{"twice", func(records []Canonical, i int) []Canonical { return slices.Insert(records, i, records[i]) }},
		{"among its changes", func(records []Canonical, i int) []Canonical {
			next := i + 1
			if !begins(records[i]) {
				next = i - 1
			}
			records[next], records[i] = records[i], records[next]
			return records
		}},
		{"of another transaction", func(records []Canonical, i int) []Canonical {
			payload := *records[i].payload
			payload.members = slices.Clone(payload.members)
			payload.set("id", &node{text: `"00000001:00000001:0001"`})
			records[i].payload = &payload
			return records
		}},
	}
	differences, missing := readDifferences(t), readMissing(t)
	for _, scenario := range scenariosNamed(t,
		"read_only_intent", "transaction_metadata", "transaction_topics/default", "transaction_topics/named",
		"transaction_topics/delimiter", "deferred_updates/transactions", "names/transactions", "random_history/chosen") {
		golden := readGolden(t, scenario)
		ours, err := playOurs(t, scenario, differences)
		require.NoError(t, err)
		first := slices.IndexFunc(ours, transactional)
		last := len(ours) - 1
		for !transactional(ours[last]) {
			last--
		}
		for _, m := range mutations {
			for name, i := range map[string]int{"BEGIN": first, "END": last} {
				require.Contains(t, ours[i].outline(), name)
				changed := m.mutate(slices.Clone(ours), i)
				assert.NotEmpty(t, disagreement(scenario, golden, changed, nil, differences, missing), "%s: %s %s", scenario.Name, name, m.name)
			}
		}
	}
}

func scenariosNamed(t *testing.T, names ...string) (found []Scenario) {
	t.Helper()
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	for _, s := range scenarios {
		if slices.Contains(names, s.Name) {
			found = append(found, s)
		}
	}
	require.Len(t, found, len(names))
	return found
}
