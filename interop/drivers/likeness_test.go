//go:build interop

package drivers

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// sameFloat64 takes numbers that are nearest to the same float64.
func sameFloat64(expected, got string) bool {
	e, err := strconv.ParseFloat(expected, 64)
	if err != nil {
		return false
	}
	g, err := strconv.ParseFloat(got, 64)
	return err == nil && e == g
}

// sameInstant takes moments that are the same in different offsets.
func sameInstant(expected, got string) bool {
	e, err := time.Parse(momentForm+" -07:00", expected)
	if err != nil {
		return false
	}
	g, err := time.Parse(momentForm+" -07:00", got)
	return err == nil && e.Equal(g)
}

// sameMicroseconds takes moments that differ in the seventh digit only, which
// got has not.
func sameMicroseconds(expected, got string) bool {
	before, after, found := strings.Cut(expected, ".")
	digits, offset, _ := strings.Cut(after, " ")
	if !found || len(digits) != 7 {
		return false
	}
	if offset != "" {
		offset = " " + offset
	}
	return got == before+"."+digits[:6]+"0"+offset
}

// sameFloat takes floating-point numbers in any notation and with any number of
// digits that reads back as the same.
func sameFloat(expected, got string) bool {
	e, err := strconv.ParseFloat(expected, 64)
	if err != nil || !strings.ContainsAny(got, ".e") {
		return false
	}
	g, err := strconv.ParseFloat(got, 64)
	return err == nil && (e == g || floatText(g, 32) == expected)
}

// sameBytes takes hexadecimal digits for bytes.
func sameBytes(expected, got string) bool {
	digits, found := strings.CutPrefix(expected, "0x")
	return found && strings.EqualFold(digits, strings.Trim(got, `"`))
}

// sameMinute takes what tsql prints for moments, dates and times of day.
func sameMinute(expected, got string) bool {
	parts := strings.Fields(got)
	if len(parts) != 4 {
		return false
	}
	g, err := time.Parse("Jan 2 2006 03:04PM", fmt.Sprintf("%s %s %04s %s", parts[0], parts[1], parts[2], parts[3]))
	if err != nil {
		return false
	}
	for _, form := range []string{momentForm, momentForm + " -07:00", dateForm, timeForm} {
		if e, err := time.Parse(form, expected); err == nil {
			if form == timeForm {
				return e.Format("15:04") == g.Format("15:04")
			}
			return e.Format("2006-01-02 15:04") == g.Format("2006-01-02 15:04")
		}
	}
	return false
}

// sameMoment takes moments whose fraction is written with another number of
// digits.
func sameMoment(expected, got string) bool {
	for _, form := range []string{momentForm, momentForm + " -07:00", timeForm} {
		e, err := time.Parse(form, expected)
		if err != nil {
			continue
		}
		g, err := time.Parse(form, got)
		return err == nil && e.Equal(g)
	}
	return false
}

// sameCut takes the beginning of a name, or of NULL.
func sameCut(expected, got string) bool {
	isName := !strings.ContainsFunc(expected, func(r rune) bool { return unicode.IsDigit(r) })
	return got != "" && strings.HasPrefix(expected, got) && (isName && len(got) > 3 || expected == "NULL") ||
		expected == "NULL" && got == "0xNULL"
}
