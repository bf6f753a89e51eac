package input_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// values are single values and their exact JSON, in default modes.
var values = []struct{ sql, literal, want string }{
	{"decimal(38,0)", "99999999999999999999999999999999999999", `"SztMqFqGxHoJiiI//////w=="`},
	{"decimal(38,0)", "-99999999999999999999999999999999999999", `"tMSzV6V5O4X2dd3AAAAAAQ=="`},
	{"decimal(38,38)", "0.00000000000000000000000000000000000001", `"AQ=="`},
	{"decimal(6,3)", "-0.001", `"/w=="`},
	{"decimal(6,3)", "0", `"AA=="`},
	{"decimal(6,3)", "0.127", `"fw=="`},
	{"decimal(6,3)", "0.128", `"AIA="`},
	{"decimal(6,3)", "-0.128", `"gA=="`},
	{"decimal(6,3)", "-0.129", `"/38="`},
	{"numeric(9,4)", "5.3230", `"AM/u"`},
	{"numeric(9,4)", "-1.5", `"xWg="`},
	{"money", "-922337203685477.5808", `"gAAAAAAAAAA="`},
	{"money", "922337203685477.5807", `"f/////////8="`},
	{"money", "0.0001", `"AQ=="`},
	{"smallmoney", "-0.5", `"7Hg="`},
	{"smallmoney", "-214748.3648", `"gAAAAA=="`},
	{"smallmoney", "214748.3647", `"f////w=="`},
	{"tinyint", "255", `255`},
	{"tinyint", "128", `128`},
	{"smallint", "-32768", `-32768`},
	{"int", "2147483647", `2147483647`},
	{"bigint", "9007199254740993", `9007199254740993`},
	{"bigint", "-9223372036854775808", `-9223372036854775808`},
	{"bigint", "9223372036854775807", `9223372036854775807`},
	{"bit", "1", `true`},
	{"bit", "0", `false`},
	{"float", "0", `0.0`},
	{"float", "100", `100.0`},
	{"float", "1e7", `1.0E7`},
	{"float", "9999999.5", `9999999.5`},
	{"float", "0.001", `0.001`},
	{"float", "0.0001", `1.0E-4`},
	{"float", "0.30000000000000004", `0.30000000000000004`},
	{"float", "1.7976931348623157E308", `1.7976931348623157E308`},
	{"real", "0.1", `0.1`},
	{"real", "16777216", `1.6777216E7`},
	{"real", "3.4028235E38", `3.4028235E38`},
	{"float(24)", "0.1", `0.1`},
	{"char(3)", "'cc'", `"cc "`},
	{"char(3)", "''", `"   "`},
	{"nchar(3)", "N'č'", `"č  "`},
	{"varchar(20)", "''", `""`},
	{"varchar(20)", "'a  '", `"a  "`},
	{"varchar(20)", `'"\/' + char(9) + char(10) + char(1) + char(31) + char(127)`, `"\"\\/\t\n\u0001\u001F` + "\x7f" + `"`},
	{"nvarchar(20)", "N'a😀b'", `"a\uD83D\uDE00b"`},
	{"nvarchar(20)", "nchar(8232) + N'<&>'", `"` + "\u2028" + `<&>"`},
	{"nvarchar(max)", "replicate(cast(N'x' as nvarchar(max)), 20000)", `"` + strings.Repeat("x", 20000) + `"`},
	{"varbinary(max)", "cast(replicate(cast('a' as varchar(max)), 9000) as varbinary(max))", `"` + strings.Repeat("YWFh", 3000) + `"`},
	{"binary(4)", "0x01", `"AQAAAA=="`},
	{"varbinary(4)", "0x", `""`},
	{"varbinary(4)", "0x00", `"AA=="`},
	{"varbinary(4)", "0xfbff", `"+/8="`},
	{"uniqueidentifier", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", `"6F9619FF-8B86-D011-B42D-00C04FC964FF"`},
	{"uniqueidentifier", "'00000000-0000-0000-0000-000000000000'", `"00000000-0000-0000-0000-000000000000"`},
	{"xml", "N'<a x=\"1\">é</a>'", `"<a x=\"1\">é</a>"`},
	{"date", "'0001-01-01'", `-719162`},
	{"date", "'9999-12-31'", `2932896`},
	{"date", "'1969-12-31'", `-1`},
	{"time(0)", "'23:59:59'", `86399000`},
	{"time(2)", "'10:23:45.68'", `37425680`},
	{"time(3)", "'10:23:45.678'", `37425678`},
	{"time(4)", "'10:23:45.6789'", `37425678900`},
	{"time(6)", "'10:23:45.678901'", `37425678901`},
	{"time(7)", "'10:23:45.6789012'", `37425678901200`},
	{"time(7)", "'23:59:59.9999999'", `86399999999900`},
	{"datetime", "'2018-07-13T13:23:45.78'", `1531488225780`},
	{"datetime", "'1753-01-01'", `-6847804800000`},
	{"datetime", "'9999-12-31T23:59:59.997'", `253402300799997`},
	{"datetime", "'1969-12-31T23:59:59.997'", `-3`},
	{"datetime", "'2000-01-01T00:00:00.003'", `946684800003`},
	{"datetime", "'2000-01-01T00:00:00.007'", `946684800007`},
	{"smalldatetime", "'2018-07-13T14:23:45'", `1531491840000`},
	{"smalldatetime", "'2079-06-06T23:59:00'", `3453321540000`},
	{"datetime2(0)", "'9999-12-31T23:59:59'", `253402300799000`},
	{"datetime2(3)", "'9999-12-31T23:59:59.999'", `253402300799999`},
	{"datetime2(3)", "'0001-01-01'", `-62135596800000`},
	{"datetime2(6)", "'9999-12-31T23:59:59.999999'", `253402300799999999`},
	{"datetime2(4)", "'1969-12-31T23:59:59.9999'", `-100`},
	{"datetime2(7)", "'2018-07-13T11:23:45.34'", `1531481025340000000`},
	{"datetime2(7)", "'2262-04-11T23:47:16.8547758'", `9223372036854775800`},
	{"datetime2(7)", "'1677-09-21T00:12:43.1452242'", `-9223372036854775800`},
	{"datetimeoffset", "'2018-07-13T12:23:45.456+11:00'", `"2018-07-13T12:23:45.456+11:00"`},
	{"datetimeoffset", "'9999-12-31T23:59:59.9999999Z'", `"9999-12-31T23:59:59.9999999Z"`},
	{"datetimeoffset(0)", "'2018-07-13T12:23:45-05:30'", `"2018-07-13T12:23:45-05:30"`},
	{"datetimeoffset(3)", "'1969-12-31T23:59:59.5Z'", `"1969-12-31T23:59:59.5Z"`},
}

// A value has one form in both phases, exact to the last digit; the same type
// has null for NULL. Decimals through floats and bits as text in the snapshot
// only are what other connectors did (redpanda connect #3857,
// airbytehq/airbyte#4542).
func TestCases_ValuesAreExactInBothPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables, rows strings.Builder
		for i, v := range values {
			fmt.Fprintf(&tables, "CREATE TABLE dbo.t%03d (id int NOT NULL PRIMARY KEY, v %s NULL)\n%s", i, v.sql, enable("dbo", fmt.Sprintf("t%03d", i)))
			fmt.Fprintf(&rows, "INSERT dbo.t%03d VALUES (1, %s), (2, NULL)\n", i, v.literal)
		}
		snapshot, stream := bothWays(t, tables.String(), rows.String(), "")
		read, streamed := images(t, snapshot), images(t, stream)
		for i, v := range values {
			want := []string{`{"id":1} {"id":1,"v":` + v.want + `}`, `{"id":2} {"id":2,"v":null}`}
			name := fmt.Sprintf("dbo.t%03d", i)
			assert.Equal(t, want, read[name], "snapshot of %s %s", v.sql, v.literal)
			assert.Equal(t, want, streamed[name], "stream of %s %s", v.sql, v.literal)
		}
	})
}

// An update and a delete show a value as the insert did.
func TestCases_ValuesAreEqualInAllImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables, rows, changes strings.Builder
		for i, v := range values {
			fmt.Fprintf(&tables, "CREATE TABLE dbo.t%03d (id int NOT NULL PRIMARY KEY, v %s NULL, n int)\n%s", i, v.sql, enable("dbo", fmt.Sprintf("t%03d", i)))
			fmt.Fprintf(&rows, "INSERT dbo.t%03d VALUES (1, %s, 0)\n", i, v.literal)
			fmt.Fprintf(&changes, "UPDATE dbo.t%03d SET n = 1\nDELETE dbo.t%03d\n", i, i)
		}
		server := newQuietServer(t, tables.String()+rows.String())
		p := startPipeline(t, server, settings{})
		snapshot := p.settled()
		require.Len(t, snapshot, len(values))
		change(t, server, changes.String())
		got := p.settled()
		require.Len(t, got, 3*len(values))
		for i, v := range values {
			want := string(open(t, snapshot[i]).After["v"])
			update, deletion := open(t, got[3*i]), open(t, got[3*i+1])
			if !strings.HasSuffix(v.sql, "(max)") {
				assert.Equal(t, want, string(update.Before["v"]), "before update of %s %s", v.sql, v.literal)
			}
			assert.Equal(t, want, string(update.After["v"]), "after update of %s %s", v.sql, v.literal)
			assert.Equal(t, want, string(deletion.Before["v"]), "delete of %s %s", v.sql, v.literal)
		}
	})
}

// Structured messages say what the raw ones say.
func TestCases_StructuredEqualsRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables, rows strings.Builder
		for i, v := range values {
			fmt.Fprintf(&tables, "CREATE TABLE dbo.t%03d (id int NOT NULL PRIMARY KEY, v %s NULL)\n%s", i, v.sql, enable("dbo", fmt.Sprintf("t%03d", i)))
			fmt.Fprintf(&rows, "INSERT dbo.t%03d VALUES (1, %s), (2, NULL)\n", i, v.literal)
		}
		server := newQuietServer(t, tables.String())
		sqlExec(t, server, "USE db\nGO\n"+rows.String())
		raw := startPipeline(t, server, settings{})
		structured := startPipeline(t, server, settings{fields: "structured: true"})
		want := append([]received(nil), raw.settled()...)
		got := append([]received(nil), structured.settled()...)
		require.NoError(t, server.CaptureNow("db"))
		want = append(want, raw.settled()...)
		got = append(got, structured.settled()...)
		require.Len(t, want, 4*len(values))
		require.Len(t, got, len(want))
		for i := range want {
			assert.Equal(t, want[i].Key, got[i].Key)
			assert.Equal(t, plain(t, want[i].Value), plain(t, got[i].Value), "%s", want[i])
		}
	})
}

// plain parses JSON, with numbers as fractions, which have one spelling.
func plain(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return fractions(t, v)
}

func fractions(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		require.True(t, ok, "%s", v)
		return r.RatString()
	case map[string]any:
		for name := range v {
			v[name] = fractions(t, v[name])
		}
		// The connector's own clock, which moves between two streams.
		for _, name := range []string{"ts_ms", "ts_us", "ts_ns"} {
			if _, ok := v["op"]; ok {
				delete(v, name)
			}
		}
	}
	return v
}

// GUIDs are text as SQL Server prints it, whatever the driver is told
// (Debezium dbz#390, datazip-inc/olake#847).
func TestCases_GUIDsDoNotDependOnTheDriver(t *testing.T) {
	connection := "connection_string: 'sqlserver://sa:" + url.QueryEscape(password) + "@server?database=db&encrypt=disable&guid+conversion="
	for _, fields := range []string{"", connection + "true'", connection + "false'"} {
		synctest.Test(t, func(t *testing.T) {
			snapshot, stream := bothWays(t,
				"CREATE TABLE dbo.t (g uniqueidentifier NOT NULL PRIMARY KEY, v uniqueidentifier NULL)\n"+enable("dbo", "t"),
				"INSERT dbo.t VALUES ('6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff-8b86-d011-b42d-00c04fc964ff'), ('00000000-0000-0000-0000-000000000001', NULL)",
				fields+"\n"+pageSizes(1))
			want := map[string][]string{"dbo.t": {
				`{"g":"00000000-0000-0000-0000-000000000001"} {"g":"00000000-0000-0000-0000-000000000001","v":null}`,
				`{"g":"6F9619FF-8B86-D011-B42D-00C04FC964FF"} {"g":"6F9619FF-8B86-D011-B42D-00C04FC964FF","v":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}`,
			}}
			assert.Equal(t, want, images(t, snapshot))
			assert.Equal(t, want, images(t, stream))
		})
	}
}

// A timestamp outside the range of nanoseconds is never wrapped
// (hugr-lab/mssql-extension#168 made 9999 into 1816): the input stops there and
// says which value it is and what to do, in both phases.
func TestCases_TimestampsOutsideNanosecondsStop(t *testing.T) {
	for _, c := range []struct{ name, literal, shown string }{
		{"end of time", "9999-12-31T23:59:59.9999999", "9999-12-31 23:59:59.9999999"},
		{"year 1", "0001-01-01T00:00:00", "0001-01-01 00:00:00"},
		{"one tick too late", "2262-04-11T23:47:16.8547759", "2262-04-11 23:47:16.8547759"},
		{"one tick too early", "1677-09-21T00:12:43.1452241", "1677-09-21 00:12:43.1452241"},
	} {
		for _, nullable := range []string{"NULL", "NOT NULL"} {
			t.Run(c.name+" "+nullable, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v7 datetime2(7) "+nullable+")\n"+enable("dbo", "t"))
					p := startPipeline(t, server, settings{})
					p.settled()
					change(t, server, "INSERT dbo.t VALUES (1, '2000-01-01')")
					p.want(`c dbo.t {"id":1,"v7":946684800000000000}`)
					change(t, server, "INSERT dbo.t VALUES (2, '"+c.literal+"')\nINSERT dbo.t VALUES (3, '2000-01-01')")
					p.quiet()
					for _, fact := range []string{"db.dbo.t", `v7`, c.shown, "time_precision_mode"} {
						assert.Contains(t, p.logs.String(), fact, "stream")
					}
					assert.Regexp(t, `[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}`, p.logs.String(), "the change's LSN")

					p.stop()
					p = startPipeline(t, server, settings{fields: pageSizes(1)})
					for _, m := range p.settled() {
						assert.Equal(t, `r dbo.t {"id":1,"v7":946684800000000000}`, m.String(), "nothing at or behind the value")
					}
					for _, fact := range []string{"db.dbo.t", `v7`, c.shown, "time_precision_mode"} {
						assert.Contains(t, p.logs.String(), fact, "snapshot")
					}
				})
			})
		}
	}
}

// The remedy of the error above works, on the change that caused it.
func TestCases_ISOStringsHoldEveryTimestamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newStore()
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v7 datetime2(7))\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{store: kept})
		p.settled()
		change(t, server, "INSERT dbo.t VALUES (1, '9999-12-31T23:59:59.9999999')")
		p.quiet()
		p.stop()

		p = startPipeline(t, server, settings{store: kept, fields: "time_precision_mode: isostring"})
		p.want(`c dbo.t {"id":1,"v7":"9999-12-31T23:59:59.9999999Z"}`)
		p.stop()
		p = startPipeline(t, server, settings{fields: "time_precision_mode: isostring"})
		p.want(`r dbo.t {"id":1,"v7":"9999-12-31T23:59:59.9999999Z"}`)
	})
}

// Modes change both phases alike.
func TestCases_Modes(t *testing.T) {
	for fields, want := range map[string]string{
		"time_precision_mode: adaptive_time_microseconds": `{"id":1,"n":"AJY=","b":"q80=","t":37425680000}`,
		"time_precision_mode: connect":                    `{"id":1,"n":"AJY=","b":"q80=","t":37425680}`,
		"time_precision_mode: microseconds":               `{"id":1,"n":"AJY=","b":"q80=","t":37425680000}`,
		"time_precision_mode: nanoseconds":                `{"id":1,"n":"AJY=","b":"q80=","t":37425680000000}`,
		"decimal_handling_mode: string":                   `{"id":1,"n":"1.50","b":"q80=","t":37425680}`,
		"decimal_handling_mode: double":                   `{"id":1,"n":1.5,"b":"q80=","t":37425680}`,
		"binary_handling_mode: base64":                    `{"id":1,"n":"AJY=","b":"q80=","t":37425680}`,
		"binary_handling_mode: hex":                       `{"id":1,"n":"AJY=","b":"abcd","t":37425680}`,
	} {
		t.Run(fields, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n decimal(9,2), b varbinary(9), t time(2))\n"+
					enable("dbo", "t"))
				p := startPipeline(t, server, settings{fields: fields})
				p.settled()
				change(t, server, "INSERT dbo.t VALUES (1, 1.5, 0xabcd, '10:23:45.68')")
				p.want(`c dbo.t ` + want)
				p.stop()
				p = startPipeline(t, server, settings{fields: fields})
				p.want(`r dbo.t ` + want)
			})
		})
	}
}

// rowversion is eight bytes that every update renews, not a time.
func TestCases_RowVersionIsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, rv rowversion, n int)\n"+enable("dbo", "t")+"INSERT dbo.t (id, n) VALUES (1, 0)")
		p := startPipeline(t, server, settings{fields: "metadata_include: [ schema ]"})
		row := open(t, p.settled()[0]).After
		var first, second []byte
		require.NoError(t, json.Unmarshal(row["rv"], &first))
		assert.Len(t, first, 8)
		change(t, server, "UPDATE dbo.t SET n = 1")
		update := open(t, p.settled()[0])
		assert.JSONEq(t, string(row["rv"]), string(update.Before["rv"]))
		require.NoError(t, json.Unmarshal(update.After["rv"], &second))
		assert.Greater(t, string(second), string(first))
	})
}

// A stored default of any kind does not disturb reading the catalogue.
func TestCases_DefaultsOfAnyKind(t *testing.T) {
	defaults := []struct{ sql, def string }{
		{"datetime", "getdate()"},
		{"varchar(20)", "N'O''Brien'"},
		{"int", "0"},
		{"int", "NULL"},
		{"uniqueidentifier", "newid()"},
		{"varchar(10)", "CONVERT(varchar(10), 'x')"},
		{"bit", "1"},
		{"decimal(9,2)", "100.12345"},
		{"bigint", "3147483648"},
		{"float", "1.2345e3"},
		{"varbinary(4)", "0x0102"},
		{"nvarchar(30)", "suser_sname()"},
		{"date", "'2000-01-01'"},
		{"money", "$1.5"},
		{"varchar(20)", "'(a)'"},
		{"int", "(1) + (2)"},
		{"varchar(9)", "''"},
		{"int", "dbo.next_number()"},
		{"varchar(60)", "dbo.[odd]] name](N'x', DEFAULT)"},
		{"nvarchar(40)", "CONVERT(nvarchar(30), SYSUTCDATETIME(), 126) + N'Z'"},
		{"datetimeoffset", "SYSDATETIMEOFFSET()"},
		{"time(7)", "'23:59:59.9999999'"},
		{"datetime", "DATEADD(day, 1, '19000101')"},
		{"int", "-(5)"},
		{"decimal(38,0)", "99999999999999999999999999999999999999"},
		{"float", "1e308"},
		{"real", "-1.5e-3"},
		{"nvarchar(9)", "N'注文😀'"},
		{"nvarchar(40)", "N'))(' + CHAR(39)"},
		{"xml", "N'<a/>'"},
		{"sql_variant", "1"},
		{"varbinary(max)", "0x"},
		{"varchar(max)", "REPLICATE('x', 10)"},
		{"uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'"},
		{"int", "CASE WHEN 1 = 1 THEN 2 ELSE NULL END"},
		{"bit", "'true'"},
		{"int", "DATEPART(year, GETDATE()) * 1"},
	}
	synctest.Test(t, func(t *testing.T) {
		columns := make([]string, len(defaults))
		for i, d := range defaults {
			columns[i] = fmt.Sprintf(", c%d %s NULL DEFAULT (%s)", i, d.sql, d.def)
		}
		snapshot, stream := bothWays(t,
			"GO\nUSE db\nGO\nCREATE FUNCTION dbo.next_number() RETURNS int AS BEGIN RETURN 42 END\nGO\n"+
				"CREATE FUNCTION dbo.[odd]] name](@s nvarchar(9), @n int = 3) RETURNS varchar(60) AS BEGIN RETURN REPLICATE(@s, @n) END\nGO\n"+
				"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY"+strings.Join(columns, "")+")\n"+enable("dbo", "t"),
			"INSERT dbo.t (id) VALUES (1), (2)", "schemas_enable: true")
		require.Len(t, snapshot, 2)
		require.Len(t, stream, 2)
		for i := range snapshot {
			assert.Equal(t, rowText(t, snapshot[i].Value, "payload", "after"), rowText(t, stream[i].Value, "payload", "after"))
		}
	})
}

// The source time is the commit's in UTC, whatever the zone of the server, whose
// catalogue has local times.
func TestCases_SourceTimeIsUTC(t *testing.T) {
	for name, zone := range map[string]*time.Location{
		"UTC": time.UTC, "west": time.FixedZone("west", -9*3600-1800), "east": time.FixedZone("east", 14*3600),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := simulator.New(simulator.Options{
					Logins: map[string]string{"sa": password}, Encryption: simulator.EncryptionUnsupported, Location: zone,
				})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, server.Close()) })
				sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+customers)
				p := startPipeline(t, server, settings{fields: "metadata_include: [ source_ts_ms ]"})
				requireSourceTime(t, time.Now(), p.next(2)[0])
				<-time.After(90*time.Second + 123*time.Millisecond)
				at := time.Now()
				change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				requireSourceTime(t, at, p.next(1)[0])
			})
		})
	}
}

// requireSourceTime compares the source time with one that a datetime can hold.
func requireSourceTime(t *testing.T, want time.Time, m received) {
	t.Helper()
	var e struct {
		Source struct {
			Millis int64 `json:"ts_ms"`
			Micros int64 `json:"ts_us"`
			Nanos  int64 `json:"ts_ns"`
		}
		Millis int64 `json:"ts_ms"`
	}
	require.NoError(t, json.Unmarshal([]byte(m.Value), &e))
	require.Equal(t, want.UnixMilli(), e.Source.Millis)
	require.Equal(t, e.Source.Millis, e.Source.Micros/1000)
	require.Equal(t, e.Source.Micros, e.Source.Nanos/1000)
	require.Equal(t, e.Source.Millis, m.Meta["source_ts_ms"])
	require.GreaterOrEqual(t, e.Millis, e.Source.Millis)
}
