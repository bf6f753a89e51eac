//go:build interop

package drivers

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"
)

// The canonical forms of moments.
const (
	dateForm   = "2006-01-02"
	timeForm   = "15:04:05"
	momentForm = dateForm + " " + timeForm
)

// goCell is a value as go-mssqldb gives it, in canonical text.
func goCell(t *sql.ColumnType, value any) cell {
	switch v := value.(type) {
	case nil:
		return cell{null: true}
	case bool:
		if v {
			return cell{text: "1"}
		}
		return cell{text: "0"}
	case float64:
		if t.DatabaseTypeName() == "REAL" {
			return cell{text: floatText(v, 32)}
		}
		return cell{text: floatText(v, 64)}
	case time.Time:
		return cell{text: goMoment(t, v)}
	case []byte:
		return textCell(goBytes(t.DatabaseTypeName(), v))
	}
	return textCell(fmt.Sprint(value))
}

func goBytes(name string, v []byte) string {
	switch name {
	case "DECIMAL", "NUMERIC", "MONEY", "SMALLMONEY":
		return string(v)
	case "UNIQUEIDENTIFIER":
		var id mssql.UniqueIdentifier
		if err := id.Scan(v); err != nil {
			return err.Error()
		}
		return id.String()
	}
	return fmt.Sprintf("0x%X", v)
}

func goMoment(t *sql.ColumnType, v time.Time) string {
	_, scale, _ := t.DecimalSize()
	fraction := ""
	if scale > 0 {
		fraction = "." + strings.Repeat("0", int(scale))
	}
	switch t.DatabaseTypeName() {
	case "DATE":
		return v.Format(dateForm)
	case "SMALLDATETIME":
		return v.Format(momentForm)
	case "DATETIME": // the driver gives 300ths of a second
		return v.Round(time.Millisecond).Format(momentForm + ".000")
	case "TIME":
		return v.Format(timeForm + fraction)
	case "DATETIMEOFFSET":
		return v.Format(momentForm + fraction + " -07:00")
	}
	return v.Format(momentForm + fraction)
}

// goArguments are a row of values as parameters of their types.
func goArguments(params []param, row []*string) ([]any, error) {
	args := make([]any, len(params))
	for i, p := range params {
		value, err := goValue(p.Type, row[i])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		args[i] = sql.Named(p.Name, value)
	}
	return args, nil
}

func goValue(kind string, value *string) (any, error) {
	if value == nil {
		return nil, nil
	}
	name, size, _ := strings.Cut(kind, "(")
	switch name {
	case "bit":
		return *value == "1", nil
	case "tinyint", "smallint", "int", "bigint":
		return strconv.ParseInt(*value, 10, 64)
	case "float":
		return strconv.ParseFloat(*value, 64)
	case "real":
		f, err := strconv.ParseFloat(*value, 32)
		return float32(f), err
	case "binary", "varbinary", "image", "hierarchyid":
		var b []byte
		_, err := fmt.Sscanf(strings.TrimPrefix(*value, "0x")+" ", "%x ", &b)
		if *value == "0x" {
			return []byte{}, nil
		}
		return b, err
	case "uniqueidentifier":
		var id mssql.UniqueIdentifier
		return id, id.Scan(*value)
	case "char", "varchar", "text":
		if !isASCII(*value) {
			return *value, nil // VarChar sends UTF-8, whatever the code page
		}
		if name == "text" || size == "max)" {
			return mssql.VarCharMax(*value), nil
		}
		return mssql.VarChar(*value), nil
	case "ntext":
		return mssql.NVarCharMax(*value), nil
	case "date":
		return civil.ParseDate(*value)
	case "time":
		return civil.ParseTime(*value)
	case "smalldatetime", "datetime":
		v, err := time.Parse(momentForm, *value)
		return mssql.DateTime1(v), err
	case "datetime2":
		v, err := time.Parse(momentForm, *value)
		return civil.DateTimeOf(v), err
	case "datetimeoffset":
		v, err := time.Parse(momentForm+" -07:00", *value)
		return mssql.DateTimeOffset(v), err
	}
	return *value, nil // decimals and money travel as text
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// bulkValue is a parameter in the form that bulk copy takes.
func bulkValue(value any) any {
	switch v := value.(type) {
	case mssql.VarChar:
		return string(v)
	case civil.DateTime:
		return v.In(time.UTC)
	}
	return value
}
