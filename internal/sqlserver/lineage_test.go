package sqlserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumericLSN(t *testing.T) {
	for text, want := range map[string]string{
		"37000000140800001":         "00000025:00000580:0001",
		"20000000018800043":         "00000014:000000bc:002b",
		"2866030000002540200057":    "002bbb6e:0000633a:0039",
		"4294967295429496729565535": "ffffffff:ffffffff:ffff",
		"4294967295429496729565536": "00000000:00000000:0000", // no such slot
		"4294967295429496729600000": "00000000:00000000:0000", // no such block
		"":                          "00000000:00000000:0000",
		"-1":                        "00000000:00000000:0000",
		"x":                         "00000000:00000000:0000",
	} {
		assert.Equal(t, want, numericLSN(text).String(), "%q", text)
	}
}
