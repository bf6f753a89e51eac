//go:build interop

package drivers

import "testing"

// pythonTDS is python-tds, a driver in Python alone.
var pythonTDS = client{
	name:  "python-tds",
	modes: []mode{plain, loginOnly, encrypted},
	open: func(t *testing.T, to target, m mode) session {
		return openProcess(t, to, m, "build/venv/bin/python", "pytds/adapter.py")
	},
	cannot: map[string]string{
		"mode strict": "python-tds knows no TDS 8",
		"cancel":      "an attention is sent when the time-out ends a query only, which timeout shows",
		"ticks":       "parameters are Python's moments, which hold microseconds",
		"metadata":    "python-tds has no catalogue functions",
	},
	close: []likeness{
		{"Python's moments hold microseconds", sameMicroseconds},
	},
}
