//go:build interop

package drivers

import "testing"

// tedious is the JavaScript driver.
var tedious = client{
	name:  "tedious",
	modes: []mode{plain, encrypted, strict},
	open: func(t *testing.T, to target, m mode) session {
		return openProcess(t, to, m, "node", "tedious/adapter.js")
	},
	cannot: map[string]string{
		"mode login only": "encrypt: false asks for no encryption at all",
		"metadata":        "tedious has no catalogue functions",
		"exact_decimals":  "decimal and money parameters are JavaScript numbers",
		"hierarchyid":     "tedious has no text for the type",
	},
	close: []likeness{
		{"decimals and money are JavaScript numbers", sameFloat64},
		{"a Date has no offset", sameInstant},
	},
}
