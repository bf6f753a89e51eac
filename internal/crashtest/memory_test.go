package crashtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMemory_Grows(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		samples []int64
		grows   bool
	}{
		"none":             {nil, false},
		"flat":             {[]int64{40 * mib, 41 * mib, 60 * mib, 41 * mib, 40 * mib, 42 * mib}, false},
		"warming up":       {[]int64{20 * mib, 40 * mib, 45 * mib, 46 * mib, 45 * mib, 45 * mib}, false},
		"a leak":           {[]int64{40 * mib, 50 * mib, 60 * mib, 70 * mib, 80 * mib, 90 * mib}, true},
		"a leak that ends": {[]int64{40 * mib, 40 * mib, 40 * mib, 40 * mib, 70 * mib, 70 * mib}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{samples: c.samples}
			if c.grows {
				assert.ErrorContains(t, m.grows(), "memory grows")
			} else {
				assert.NoError(t, m.grows())
			}
		})
	}
}
