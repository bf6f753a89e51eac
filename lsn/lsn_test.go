package lsn_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

func mustParse(t *testing.T, s string) lsn.LSN {
	t.Helper()
	l, err := lsn.Parse(s)
	require.NoError(t, err)
	return l
}

func anyLSN() *rapid.Generator[lsn.LSN] {
	return rapid.Custom(func(t *rapid.T) lsn.LSN {
		// Few distinct bytes, so that equal prefixes and carries are common.
		return lsn.LSN(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), lsn.Size, lsn.Size).Draw(t, "lsn"))
	})
}

func TestParse(t *testing.T) {
	want := lsn.LSN{0, 0, 0, 0x27, 0, 0, 0x07, 0x58, 0, 0x5a}
	for _, s := range []string{
		"00000027:00000758:005a",
		"00000027:00000758:005A",
		"0x0000002700000758005a",
		"0X0000002700000758005A",
	} {
		assert.Equal(t, want, mustParse(t, s), s)
	}
	for _, s := range []string{
		"",
		"00000027:00000758:0005zzz",
		"00000027:00000758:000",
		"0000027:000000758:0005",
		"00000027 00000758 0005",
		"00000027:00000758:00+5",
		"00000027:0000_758:0005",
		" 0000027:00000758:0005",
		"0x000000270000075800",
		"0x00000027000007580005ff",
		"00000027000007580005",
	} {
		_, err := lsn.Parse(s)
		assert.ErrorContains(t, err, "parsing LSN", "%q", s)
	}
}

func TestLSN_NextPrev(t *testing.T) {
	for _, tt := range []struct{ name, lsn, next string }{
		{"Slot", "0000002d:00000580:001d", "0000002d:00000580:001e"},
		{"Carry", "0000002d:0000058f:ffff", "0000002d:00000590:0000"},
		{"CarryThrough", "0000002d:ffffffff:ffff", "0000002e:00000000:0000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.next, mustParse(t, tt.lsn).Next().String())
			assert.Equal(t, tt.lsn, mustParse(t, tt.next).Prev().String())
		})
	}
	assert.Equal(t, lsn.Max, lsn.Max.Next(), "nothing comes after the greatest")
	assert.Equal(t, lsn.LSN{}, lsn.LSN{}.Prev(), "nothing comes before zero")
}

func TestLSN_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyLSN().Draw(t, "a"), anyLSN().Draw(t, "b")
		parsed, err := lsn.Parse(a.String())
		require.NoError(t, err)
		require.Equal(t, a, parsed)
		require.Equal(t, bytes.Compare([]byte(a.String()), []byte(b.String())), a.Compare(b))
		if a != lsn.Max {
			require.True(t, a.Before(a.Next()))
			require.Equal(t, a, a.Next().Prev())
			require.False(t, b.After(a) && b.Before(a.Next()), "nothing lies between an LSN and its next")
		}
	})
}

func TestLSN_Scan(t *testing.T) {
	buffer := []byte{0, 0, 0, 0x27, 0, 0, 7, 0x58, 0, 5}
	var l lsn.LSN
	require.NoError(t, l.Scan(buffer))
	buffer[9] = 0xff
	assert.Equal(t, "00000027:00000758:0005", l.String(), "the LSN must not alias the driver's buffer")

	value, err := l.Value()
	require.NoError(t, err)
	assert.Equal(t, []byte{0, 0, 0, 0x27, 0, 0, 7, 0x58, 0, 5}, value)

	require.NoError(t, l.Scan("0x00000027000007580006"))
	assert.Equal(t, "00000027:00000758:0006", l.String())
	for _, bad := range []any{nil, int64(1), []byte{1, 2}, "x"} {
		require.Error(t, l.Scan(bad), "%v", bad)
		assert.Equal(t, "00000027:00000758:0006", l.String(), "a failed scan leaves the LSN alone")
	}
}

func TestPosition_SortsAsText(t *testing.T) {
	commit, later := mustParse(t, "0000002d:00000580:001d"), mustParse(t, "0000002d:00000588:0003")
	change := mustParse(t, "0000002d:00000580:001b")
	ordered := []lsn.Position{
		{},
		{Commit: commit, Ordinal: 1},
		{Commit: commit, Ordinal: 1 << 63},
		{Commit: commit, Command: 1, Change: change, Operation: 1},
		{Commit: commit, Command: 1, Change: change, Operation: 1, Ordinal: 1},
		{Commit: commit, Command: 1, Change: change, Operation: 2},
		{Commit: commit, Command: 1, Change: change.Next(), Operation: 1},
		{Commit: commit, Command: 16, Change: change, Operation: 4},
		lsn.EndOf(commit),
		{Commit: later},
		lsn.EndOf(lsn.Max),
	}
	for i, p := range ordered {
		for j, q := range ordered {
			assert.Equal(t, i < j, p.Before(q), "%v before %v", p, q)
		}
	}
	assert.True(t, slices.IsSortedFunc(ordered, func(a, b lsn.Position) int {
		return bytes.Compare([]byte(a.String()), []byte(b.String()))
	}))
}

func TestPosition_Properties(t *testing.T) {
	position := rapid.Custom(func(t *rapid.T) lsn.Position {
		return lsn.Position{
			Commit:    anyLSN().Draw(t, "commit"),
			Command:   rapid.Int32Range(0, lsn.MaxCommand).Draw(t, "command"),
			Change:    anyLSN().Draw(t, "change"),
			Operation: rapid.Uint8().Draw(t, "operation"),
			Ordinal:   rapid.Uint64().Draw(t, "ordinal"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		p, q := position.Draw(t, "p"), position.Draw(t, "q")
		parsed, err := lsn.ParsePosition(p.String())
		require.NoError(t, err)
		require.Equal(t, p, parsed)
		require.Equal(t, bytes.Compare([]byte(p.String()), []byte(q.String())), p.Compare(q))
		require.Equal(t, -q.Compare(p), p.Compare(q))
	})
}

func TestPosition_UnmarshalText(t *testing.T) {
	p := lsn.EndOf(mustParse(t, "0000002d:00000580:001d"))
	kept := p
	require.ErrorContains(t, p.UnmarshalText([]byte("0000002d:00000580:001d")), "fixed width")
	assert.Equal(t, kept, p, "a failed parse leaves the position alone")

	text, err := p.MarshalText()
	require.NoError(t, err)
	var back lsn.Position
	require.NoError(t, back.UnmarshalText(text))
	assert.Equal(t, p, back)
}

func FuzzParse(f *testing.F) {
	f.Add("00000027:00000758:0005")
	f.Add("0x00000027000007580005")
	f.Add("00000027:00000758:0005zz")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := lsn.Parse(s)
		if err != nil {
			return
		}
		again, err := lsn.Parse(l.String())
		if err != nil || again != l {
			t.Fatalf("%q parsed as %v, which parses as %v, %v", s, l, again, err)
		}
	})
}

func FuzzParsePosition(f *testing.F) {
	f.Add(lsn.EndOf(lsn.Max).String())
	f.Add("0000002d:00000580:001d/-0000001/0000002d:00000580:001b/01/0000000000000000")
	f.Add("00000000:00000000:0000/00000000/0X00000000000000000000/00/0000000000000000")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := lsn.ParsePosition(s)
		if err != nil {
			return
		}
		if !bytes.EqualFold([]byte(p.String()), []byte(s)) {
			t.Fatalf("%q parsed as %v", s, p)
		}
	})
}
