package schema

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Expected texts are what JDK 19 and later print.
func TestAppendFloat(t *testing.T) {
	tests := []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0.0"},
		{math.Copysign(0, -1), 64, "-0.0"},
		{1, 64, "1.0"},
		{-1.5, 64, "-1.5"},
		{0.001, 64, "0.001"},
		{0.0001, 64, "1.0E-4"},
		{0.00999, 64, "0.00999"},
		{0.125, 64, "0.125"},
		{1234567.5, 64, "1234567.5"},
		{9999999, 64, "9999999.0"},
		{9999999.999999998, 64, "9999999.999999998"},
		{1e7, 64, "1.0E7"},
		{12345678.9, 64, "1.23456789E7"},
		{1e21, 64, "1.0E21"},
		{2e23, 64, "2.0E23"},
		{1e23, 64, "1.0E23"},
		{9007199254740993, 64, "9.007199254740992E15"},
		{math.SmallestNonzeroFloat64, 64, "4.9E-324"},
		{math.SmallestNonzeroFloat64 * 2, 64, "9.9E-324"},
		{math.MaxFloat64, 64, "1.7976931348623157E308"},
		{float64(float32(3.4)), 32, "3.4"},
		{float64(float32(33554432)), 32, "3.3554432E7"},
		{math.SmallestNonzeroFloat32, 32, "1.4E-45"},
		{math.Ldexp(1, -12), 32, "2.4414062E-4"},
		{math.Ldexp(1, -13), 32, "1.2207031E-4"},
		{math.Ldexp(1, -24), 32, "5.9604645E-8"},
		{math.Ldexp(1, 90), 32, "1.2379401E27"},
		{math.Ldexp(1, -44), 64, "5.684341886080802E-14"},
		{math.NaN(), 64, `"NaN"`},
		{math.Inf(1), 64, `"Infinity"`},
		{math.Inf(-1), 64, `"-Infinity"`},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			assert.Equal(t, tt.want, string(appendFloat(nil, tt.f, tt.bits)))
		})
	}
}

// All powers of two are as the second implementation prints them.
func TestAppendFloat_PowersOfTwo(t *testing.T) {
	for exponent := -1074; exponent <= 1023; exponent++ {
		f := math.Ldexp(1, exponent)
		assert.Equal(t, javaFloat(f, 64), string(appendFloat(nil, f, 64)))
		if exponent >= -149 && exponent <= 127 {
			assert.Equal(t, javaFloat(f, 32), string(appendFloat(nil, f, 32)))
		}
	}
}

func TestAppendFloat_RoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		back, err := strconv.ParseFloat(string(appendFloat(nil, f, 64)), 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(back))

		single := rapid.Float32().Draw(t, "single")
		back, err = strconv.ParseFloat(string(appendFloat(nil, float64(single), 32)), 32)
		require.NoError(t, err)
		require.Equal(t, math.Float32bits(single), math.Float32bits(float32(back)))
	})
}
