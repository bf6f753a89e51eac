package crashtest

import (
	"fmt"
	"slices"
	"strings"
)

// feature is something that plans are to be examples of.
type feature string

// The features.
const (
	twoDatabases     feature = "two databases"
	functionMode     feature = "change tables by their functions"
	strict           feature = "strict"
	managing         feature = "capture instances managed"
	observing        feature = "staying with the older instance"
	following        feature = "following to the newer instance"
	toldOf           feature = "transactions and structures told"
	adaptivePolling  feature = "adaptive polling"
	structuredValues feature = "structured values"
	severalThreads   feature = "several threads"
	quickCache       feature = "quick cache"
	slowCache        feature = "slow cache"
	flakyCache       feature = "flaky cache"
	oneInFlight      feature = "checkpoint limit of one message"
	oneRowPages      feature = "pages of one row"
	smallQueue       feature = "small queue"
	collecting       feature = "batching"
	heartbeats       feature = "heartbeats"

	insertion         feature = "insert"
	updates           feature = "update"
	deletion          feature = "delete"
	keyChange         feature = "key change"
	keysThatMeet      feature = "key changes that meet"
	deferredUpdate    feature = "deferred update"
	rowsWithoutKey    feature = "rows without a key"
	shortLived        feature = "row that comes and goes in a transaction"
	columnUsed        feature = "change of a column added later"
	severalStatements feature = "transaction of several statements"
	hugeTransaction   feature = "huge transaction over two tables"
	rollback          feature = "rollback"
	savepoint         feature = "rollback to a savepoint"
	overlapping       feature = "transactions that overlap"

	columnAdded        feature = "column added"
	columnDropped      feature = "column dropped"
	columnAltered      feature = "column altered"
	handOver           feature = "second capture instance"
	oldInstanceDropped feature = "older capture instance dropped"
	cleanedUpAfter     feature = "cleanup of what was delivered"
	rowsReadAgain      feature = "rows read again after a cleanup"
	tableDenied        feature = "right to read a table taken away"
	tableGranted       feature = "right to read a table given back"

	killAtMessage feature = "killed at a message"
	killAtSave    feature = "killed at a write to the cache"
	tornSave      feature = "write to the cache torn"
	takenOver     feature = "taken over by another"
	stopAndStart  feature = "stopped and started"
	hastyStop     feature = "stopped in haste"
	rejection     feature = "batches rejected"
	blockedOutput feature = "output blocked"
	sessionKill   feature = "sessions killed"
	serverRestart feature = "server restarted"
)

// allFeatures are those that plans are to have.
var allFeatures = func() []feature {
	all := []feature{
		twoDatabases, functionMode, strict, managing, observing, following, toldOf, adaptivePolling, structuredValues, severalThreads,
		quickCache, slowCache, flakyCache, oneInFlight, oneRowPages, smallQueue, collecting, heartbeats,
		insertion, updates, deletion, keyChange, keysThatMeet, deferredUpdate, rowsWithoutKey, shortLived, columnUsed,
		severalStatements, hugeTransaction, rollback, savepoint, overlapping,
		columnAdded, columnDropped, columnAltered, handOver, oldInstanceDropped, cleanedUpAfter, rowsReadAgain, tableDenied, tableGranted,
		killAtMessage, killAtSave, tornSave, takenOver, stopAndStart, hastyStop, rejection, blockedOutput, sessionKill, serverRestart,
	}
	for _, m := range misfortunes {
		all = append(all, faultFeature(m))
	}
	for how := range lapseKinds {
		all = append(all, lapseFeature(how))
	}
	return all
}()

func faultFeature(m Misfortune) feature { return feature("fault: " + string(m)) }
func lapseFeature(k lapseKind) feature  { return feature("lapse: " + k.String()) }

// features are those of a plan.
type features map[feature]bool

func (f features) note(examples ...feature) {
	for _, e := range examples {
		f[e] = true
	}
}

// ofTraits notes what the settings are examples of.
func (f features) ofTraits(t traits) {
	for example, is := range map[feature]bool{
		twoDatabases: t.two, functionMode: t.function, strict: t.strict, observing: t.observe, following: !t.observe, toldOf: t.told,
		adaptivePolling: t.adaptive, structuredValues: t.structured, severalThreads: t.threads > 1,
		quickCache: t.cache == quick, slowCache: t.cache == slow, flakyCache: t.cache == flaky,
		oneInFlight: t.first.checkpoint == 1, oneRowPages: t.first.page == 1, smallQueue: t.first.queueBytes == 1000,
		collecting: t.first.collect > 0, heartbeats: t.first.heartbeat,
	} {
		if is {
			f.note(example)
		}
	}
}

// Coverage counts the plans that have each feature.
type Coverage map[feature]int

// Add counts a plan.
func (c Coverage) Add(p *Plan) {
	for f := range p.features {
		c[f]++
	}
}

// Missing returns the features that fewer plans have than so many.
func (c Coverage) Missing(fewest int) (names []string) {
	for _, f := range allFeatures {
		if c[f] < fewest {
			names = append(names, string(f))
		}
	}
	return names
}

// String lists the features, the rarest first.
func (c Coverage) String() string {
	sorted := slices.Clone(allFeatures)
	slices.SortStableFunc(sorted, func(a, b feature) int { return c[a] - c[b] })
	var b strings.Builder
	for _, f := range sorted {
		fmt.Fprintf(&b, "%6d  %s\n", c[f], f)
	}
	return b.String()
}
