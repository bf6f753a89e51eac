package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelDate is a date or time of a type, as Go's calendar has it.
type modelDate struct {
	typ string
	at  time.Time
}

// roundToDateTime rounds to the 1/300 s that datetime keeps.
func roundToDateTime(at time.Time) time.Time {
	second := at.Truncate(time.Second)
	thirds := (at.Sub(second).Nanoseconds()*300 + 5e8) / 1e9
	return second.Add(time.Duration(thirds * 1e9 / 300))
}

func drawDate(t *rapid.T) modelDate {
	d := modelDate{typ: rapid.SampledFrom([]string{"date", "datetime", "datetime2"}).Draw(t, "type")}
	days := rapid.IntRange(0, 80000).Draw(t, "days")
	d.at = time.Date(1850, 1, 1+days, 0, 0, 0, 0, time.UTC)
	if d.typ != "date" {
		d.at = d.at.Add(time.Duration(rapid.Int64Range(0, 864e9-1).Draw(t, "ticks")) * 100)
	}
	if d.typ == "datetime" {
		d.at = roundToDateTime(d.at.Truncate(time.Millisecond))
	}
	return d
}

func (d modelDate) text() string {
	switch d.typ {
	case "date":
		return d.at.Format("2006-01-02")
	case "datetime":
		return d.at.Round(time.Millisecond).Format("2006-01-02 15:04:05.000")
	default:
		return d.at.Format("2006-01-02 15:04:05.0000000")
	}
}

func (d modelDate) sql() string { return fmt.Sprintf("CAST('%s' AS %s)", d.text(), d.typ) }

// modelAddMonths takes the last day of a month that is too short (MS docs, "DATEADD").
func modelAddMonths(at time.Time, n int) time.Time {
	first := time.Date(at.Year(), at.Month()+time.Month(n), 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(at.Day(), last)-1)
}

func (d modelDate) add(part string, n int) modelDate {
	switch part {
	case "year":
		d.at = modelAddMonths(d.at, 12*n)
	case "quarter":
		d.at = modelAddMonths(d.at, 3*n)
	case "month":
		d.at = modelAddMonths(d.at, n)
	case "week":
		d.at = d.at.AddDate(0, 0, 7*n)
	case "day":
		d.at = d.at.AddDate(0, 0, n)
	case "hour":
		d.at = d.at.Add(time.Duration(n) * time.Hour)
	case "minute":
		d.at = d.at.Add(time.Duration(n) * time.Minute)
	case "second":
		d.at = d.at.Add(time.Duration(n) * time.Second)
	case "millisecond":
		d.at = d.at.Add(time.Duration(n) * time.Millisecond)
	}
	if d.typ == "datetime" {
		d.at = roundToDateTime(d.at)
	}
	return d
}

// modelBoundaries counts the boundaries of a unit before a time; DATEDIFF is the
// difference of two such counts (MS docs, "DATEDIFF").
func modelBoundaries(part string, at time.Time) int64 {
	epoch := time.Date(1800, 1, 5, 0, 0, 0, 0, time.UTC) // a Sunday
	seconds := at.Unix() - epoch.Unix()
	switch part {
	case "year":
		return int64(at.Year())
	case "quarter":
		return int64(at.Year())*4 + int64(at.Month()-1)/3
	case "month":
		return int64(at.Year())*12 + int64(at.Month())
	case "week":
		return seconds / 86400 / 7
	case "day":
		return seconds / 86400
	case "hour":
		return seconds / 3600
	case "minute":
		return seconds / 60
	default:
		return seconds
	}
}

func modelDatePart(part string, at time.Time) int {
	_, isoWeek := at.ISOWeek()
	firstWeekday := int(time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC).Weekday())
	return map[string]int{
		"year": at.Year(), "quarter": (int(at.Month()) + 2) / 3, "month": int(at.Month()), "dayofyear": at.YearDay(), "day": at.Day(),
		"week": (at.YearDay()-1+firstWeekday)/7 + 1, "iso_week": isoWeek, "weekday": int(at.Weekday()) + 1,
		"hour": at.Hour(), "minute": at.Minute(), "second": at.Second(),
	}[part]
}

// Random dates move, differ and fall apart as in Go's calendar.
func TestDates_AgreeWithTheModel(t *testing.T) {
	s := login(t, newInstance(t), "master")
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawDate(rt), drawDate(rt)
		parts := []string{"year", "quarter", "month", "week", "day"}
		if a.typ != "date" {
			parts = append(parts, "hour", "minute", "second", "millisecond")
		}
		part := rapid.SampledFrom(parts).Draw(rt, "part")
		n := rapid.IntRange(-90, 90).Draw(rt, "n")
		if a.typ == "datetime" && part == "millisecond" && n%10 != 0 && n%5 == 0 {
			n++ // it is not documented which way half of 1/300 s rounds
		}
		sum := a.add(part, n)
		between := part
		if part == "millisecond" {
			between = "second"
		}
		read := rapid.SampledFrom([]string{"year", "quarter", "month", "dayofyear", "day", "week", "iso_week", "weekday"}).Draw(rt, "read")
		if a.typ != "date" {
			read = rapid.SampledFrom([]string{read, "hour", "minute", "second"}).Draw(rt, "read more")
		}
		got := run(t, s, fmt.Sprintf("SELECT CONVERT(varchar(40), DATEADD(%s, %d, %s), 121), DATEDIFF_BIG(%s, %s, %s), DATEPART(%s, %s)", part, n, a.sql(), between, a.sql(), b.sql(), read, a.sql()))
		if a.typ == "datetime" && sum.at.Year() < 1753 {
			require.Contains(rt, got, "Msg 517,")
			return
		}
		want := fmt.Sprintf("%s | %d | %d", sum.text(), modelBoundaries(between, b.at)-modelBoundaries(between, a.at), modelDatePart(read, a.at))
		lines := strings.Split(got, "\n")
		require.Greater(rt, len(lines), 1, got)
		require.Equal(rt, want, lines[1], "DATEADD(%s, %d, %s), to %s, %s", part, n, a.sql(), b.sql(), read)
	})
}
