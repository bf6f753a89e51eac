package tds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func TestTrace_LoginResponse(t *testing.T) {
	b := AppendEnvChange(nil, EnvDatabase, "inventory", "master")
	b = AppendNotice(b, Notice{Number: 5701, State: 2, Message: "Changed database context to 'inventory'.", Server: "sim", Line: 1})
	b = AppendEnvChangeBytes(b, EnvCollation, []byte{9, 4, 0xD0, 0, 0x34}, nil)
	b = AppendLoginAck(b, LoginAck{TDSVersion: Version74, Program: "Microsoft SQL Server", Version: Version{Major: 16, Build: 4165}})
	b = AppendEnvChange(b, EnvPacketSize, "8000", "4096")
	b = AppendFeatureExtAck(b, []Feature{{ID: FeatureUTF8Support, Data: []byte{1}}})
	b = AppendFeatureExtAck(b, nil)
	b = AppendDone(b, DoneToken{Kind: Done})
	assert.Equal(t, strings.TrimPrefix(`
ENVCHANGE 1 new "inventory" old "master"
INFO 5701 state 2 class 0 "Changed database context to 'inventory'." server "sim" procedure "" line 1
ENVCHANGE 7 new 0904d00034 old 
LOGINACK version 74000004 program "Microsoft SQL Server" 16.0.4165
ENVCHANGE 4 new "8000" old "4096"
FEATUREEXTACK 10 01
DONE [] command 0x0
`, "\n"), Trace(b))
}

func TestTrace_ProcedureResponse(t *testing.T) {
	columns := []Column{
		{Name: "id", Type: sqltypes.Simple(sqltypes.Int), Identity: true},
		{Name: "price", Type: sqltypes.NumericOf(10, 2), Nullable: true, Computed: true},
		{Name: "memo", Type: sqltypes.Simple(sqltypes.NText), Nullable: true, Table: "t", CaseSensitive: true},
		{Name: "", Type: sqltypes.Type{}},
		{Name: "v", Type: sqltypes.Simple(sqltypes.RowVersion), Updatable: true},
	}
	rows := NewRowEncoder(columns)
	b := AppendColMetadata(nil, columns)
	b = AppendOrder(b, []int{1, 2})
	v := sqltypes.RawOf("12345678")
	b = rows.AppendRow(b, []sqltypes.Value{sqltypes.IntOf(1), sqltypes.DecimalOf(true, 0, 150, 2), sqltypes.StringOf("é"), sqltypes.Null(), v})
	b = AppendDone(b, DoneToken{Kind: DoneInProc, Status: DoneMore | DoneCount, Command: 0xC1, Count: 1})
	b = AppendNotice(b, Notice{Number: 50000, State: 1, Class: 16, Message: "no", Server: "sim", Procedure: "p", Line: 3})
	b = AppendReturnStatus(b, -6)
	b = AppendReturnValue(b, "@out", 1, sqltypes.NVarCharOf(10), sqltypes.StringOf("x"))
	b = AppendReturnValue(b, "@null", 2, sqltypes.Simple(sqltypes.Int), sqltypes.Null())
	b = AppendDone(b, DoneToken{Kind: DoneProc, Status: DoneError | DoneInTransaction})
	assert.Equal(t, strings.TrimPrefix(`
COLMETADATA 5
  "id" int wire 0x38 user 0 flags 0x18
  "price" numeric(10,2) wire 0x6C user 0 flags 0x29
  "memo" ntext wire 0x63 user 0 flags 0x0B table t
  "" int wire 0x26 user 0 flags 0x09
  "v" binary(8) wire 0xAD user 80 flags 0x04
ORDER 1 2
NBCROW 1 | -(0,150)e-2 | "é" | NULL | 0x3132333435363738
DONEINPROC [more] command 0xC1 count 1
ERROR 50000 state 1 class 16 "no" server "sim" procedure "p" line 3
RETURNSTATUS -6
RETURNVALUE 1 "@out" status 1 nvarchar(10) "x"
RETURNVALUE 2 "@null" status 1 int NULL
DONEPROC [error transaction] command 0x0
`, "\n"), Trace(b))
}

func TestTrace_SaysWhereItStops(t *testing.T) {
	b := AppendDone(nil, DoneToken{Kind: Done, Status: DoneAttention})
	assert.Equal(t, "DONE [attention] command 0x0\n!! token 0x05 is unknown\n", Trace(append(b, 5)))
}

func TestAppendNotice_LongMessageFits(t *testing.T) {
	b := AppendNotice(nil, Notice{Class: 16, Message: strings.Repeat("é", 40000), Server: "s"})
	assert.NotContains(t, Trace(b), "!!")
}

func FuzzTrace(f *testing.F) {
	f.Add(AppendDone(nil, DoneToken{Kind: Done}))
	columns, row := changeRow()
	f.Add(NewRowEncoder(columns).AppendRow(AppendColMetadata(nil, columns), row))
	f.Fuzz(func(_ *testing.T, in []byte) { Trace(in) })
}
