package debeziumconfig

import "strings"

// The functions here are the defaults of Debezium that differ from the input's,
// or that changed since 1.x.

func isolation(t *translation) fallback {
	if t.value("application_intent") == "ReadOnly" {
		return fallback{value: "snapshot", comment: "As Debezium does on read-only replicas."}
	}
	return fallback{
		value:   "repeatable_read",
		comment: "Debezium's default; it locks rows until the snapshot ends. The input's own, auto, blocks no writer.",
		without: "Debezium's default is repeatable_read; here it is auto, which blocks no writer",
	}
}

func contextHeaders(t *translation) fallback {
	if t.result.Generation < Debezium3 {
		return fallback{} // there were none
	}
	return fallback{
		value:   true,
		comment: "Debezium's default: headers __debezium.context.*. Without them the pipeline is faster.",
	}
}

func sourceTime(t *translation) fallback {
	mode := t.first("data.query.mode")
	if t.result.Generation < Debezium3 && mode != "direct" || mode == "function" {
		return fallback{} // the time of the commit, as here
	}
	return fallback{
		value:   "begin",
		comment: "Debezium 3.x takes the beginning of the transaction; the input's own default is commit, its end.",
	}
}

func convertingFailures(t *translation) fallback {
	if t.result.Generation < Debezium2 {
		return fallback{}
	}
	return fallback{
		value:   "warn",
		comment: "Debezium's default: a value that does not fit becomes null. Without this line it is an error that names the remedy.",
	}
}

func schemaChangesOfAll(t *translation) fallback {
	if strings.EqualFold(t.first("include.schema.changes"), "false") {
		return fallback{}
	}
	return fallback{value: false, comment: "Debezium's default: schema changes of tables that are not captured, too."}
}

func computedColumns(*translation) fallback {
	return fallback{
		value:   "snapshot",
		comment: "As Debezium does in snapshots; in changes, where it writes null, they are left out. The default leaves them out everywhere.",
	}
}

func skippedOperations(t *translation) fallback {
	if t.result.Generation > Debezium1 {
		return fallback{}
	}
	return fallback{value: []string{"none"}, comment: "The default of 1.x; since 2.0 it is [t]."}
}

func pollInterval(t *translation) fallback {
	if t.result.Generation > Debezium1 {
		return fallback{}
	}
	return fallback{value: "1s", comment: "The default of 1.x; since 2.0 it is 500ms."}
}

func queryMode(t *translation) fallback {
	if t.result.Generation > Debezium2 {
		return fallback{}
	}
	return fallback{value: "function", comment: "The only way of 1.x and the default of 2.x; since 3.0 it is direct."}
}

func schemaNames(t *translation) fallback {
	if t.result.Generation > Debezium1 {
		return fallback{}
	}
	return fallback{value: "avro", comment: "The default of 1.x; since 2.0 it is none."}
}
