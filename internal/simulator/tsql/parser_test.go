package tsql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func parseExpr(t *testing.T, sql string) tsql.Expr {
	t.Helper()
	x, err := tsql.ParseExpr(sql, tsql.Options{})
	require.NoError(t, err, sql)
	return x
}

func TestParseExpr_Trees(t *testing.T) {
	for sql, want := range map[string]string{
		`1 + 2 * 3`: `(Binary Op="+" L=i"1" R=(Binary Op="*" L=i"2" R=i"3"))`,
		`1 - 2 - 3`: `(Binary Op="-" L=(Binary Op="-" L=i"1" R=i"2") R=i"3")`,
		`-a & 0xFF`: `(Binary Op="&" L=(Unary Op="-" X=(ColumnRef Name=a)) R=x"\xff")`,
		`a = 1 OR b = 2 AND NOT c = 3`: `(Binary Op="OR" L=(Binary Op="=" L=(ColumnRef Name=a) R=i"1") R=(Binary Op="AND" L=(Binary Op="=" L=(ColumnRef Name=b) R=i"2") ` +
			`R=(Unary Op="NOT" X=(Binary Op="=" L=(ColumnRef Name=c) R=i"3"))))`,
		`(a = 1 OR b = 2) AND c != 3`: `(Binary Op="AND" L=(Binary Op="OR" L=(Binary Op="=" L=(ColumnRef Name=a) R=i"1") R=(Binary Op="=" L=(ColumnRef Name=b) R=i"2")) ` +
			`R=(Binary Op="<>" L=(ColumnRef Name=c) R=i"3"))`,
		`(a + 1) * 2 > = 3`:                 `(Binary Op=">=" L=(Binary Op="*" L=(Binary Op="+" L=(ColumnRef Name=a) R=i"1") R=i"2") R=i"3")`,
		`[a]]b]."c""d".e`:                   `(ColumnRef Name=a]b.c"d.e)`,
		`db..t.c`:                           `(ColumnRef Name=db..t.c)`,
		`'it''s' + N'ü'`:                    `(Binary Op="+" L=s"it's" R=n"ü")`,
		`0x`:                                `x""`,
		`0xABC`:                             `x"\n\xbc"`,
		`$1.5`:                              `m"1.5"`,
		`1.`:                                `d"1."`,
		`.5e-3`:                             `f".5e-3"`,
		`1e`:                                `f"1e0"`,
		`@@ROWCOUNT + @x`:                   `(Binary Op="+" L=(GlobalVariable Name="@@ROWCOUNT") R=(Variable Name="@x"))`,
		`x IS NOT NULL`:                     `(IsNull X=(ColumnRef Name=x) Not)`,
		`x NOT LIKE 'a!%' ESCAPE '!'`:       `(Like X=(ColumnRef Name=x) Pattern=s"a!%" Escape=s"!" Not)`,
		`x LIKE 'a' {escape '\'}`:           `(Like X=(ColumnRef Name=x) Pattern=s"a" Escape=s"\\")`,
		`x IN (1, 2)`:                       `(In X=(ColumnRef Name=x) List=[i"1" i"2"])`,
		`x BETWEEN 1 AND 2 AND y = 3`:       `(Binary Op="AND" L=(Between X=(ColumnRef Name=x) Low=i"1" High=i"2") R=(Binary Op="=" L=(ColumnRef Name=y) R=i"3"))`,
		`CASE WHEN a = 1 THEN 2 END`:        `(Case Whens=[(When When=(Binary Op="=" L=(ColumnRef Name=a) R=i"1") Then=i"2")])`,
		`CASE a WHEN 1 THEN 2 ELSE 3 END`:   `(Case Operand=(ColumnRef Name=a) Whens=[(When When=i"1" Then=i"2")] Else=i"3")`,
		`CAST(a AS nvarchar(max))`:          `(Cast X=(ColumnRef Name=a) Type=nvarchar[-1])`,
		`TRY_CONVERT(decimal(10, 2), a, 1)`: `(Convert Type=decimal[10 2] X=(ColumnRef Name=a) Style=i"1" Try)`,
		`PARSE('1' AS int USING 'en-US')`:   `(ParseCall X=s"1" Type=int Culture=s"en-US")`,
		`CAST(1 AS double precision)`:       `(Cast X=i"1" Type=float)`,
		`COUNT(*)`:                          `(FuncCall Name=COUNT Star)`,
		`COUNT(DISTINCT a)`:                 `(FuncCall Name=COUNT Args=[(ColumnRef Name=a)] Distinct)`,
		`ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC)`: `(FuncCall Name=ROW_NUMBER Over=(Over PartitionBy=[(ColumnRef Name=a)] OrderBy=[(OrderItem Expr=(ColumnRef Name=b) Desc)]))`,
		`SUM(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)`: `(FuncCall Name=SUM Args=[(ColumnRef Name=a)] Over=(Over OrderBy=[(OrderItem Expr=(ColumnRef Name=b))] ` +
			`Frame=(Frame Rows Start=(FrameBound Kind=1 N=i"1") End=(FrameBound Kind=4))))`,
		`IIF(a > 1, 'x', NULL)`:                            `(FuncCall Name=IIF Args=[(Binary Op=">" L=(ColumnRef Name=a) R=i"1") s"x" null""])`,
		`LEFT(a, 1)`:                                       `(FuncCall Name=LEFT Args=[(ColumnRef Name=a) i"1"])`,
		`CURRENT_TIMESTAMP`:                                `(FuncCall Name=CURRENT_TIMESTAMP NoParens)`,
		`{fn CONCAT('a', 'b')}`:                            `(FuncCall Name=CONCAT Args=[s"a" s"b"])`,
		`{ts '2020-01-01 00:00:00'}`:                       `(Cast X=s"2020-01-01 00:00:00" Type=datetime)`,
		`a AT TIME ZONE 'UTC' COLLATE Latin1_General_BIN2`: `(Collate X=(AtTimeZone X=(ColumnRef Name=a) Zone=s"UTC") Collation="Latin1_General_BIN2")`,
		`sys.fn_cdc_get_max_lsn()`:                         `(FuncCall Name=sys.fn_cdc_get_max_lsn)`,
		`geography::Point(1, 2, 4326).Lat`:                 `(MethodCall X=(StaticMethod Type=geography Name="Point" Args=[i"1" i"2" i"4326"] Call) Name="Lat")`,
		`@x.value('.', 'int')`:                             `(MethodCall X=(Variable Name="@x") Name="value" Args=[s"." s"int"] Call)`,
		`TRIM('x' FROM a)`:                                 `(FuncCall Name=TRIM Args=[(ColumnRef Name=a) s"x"])`,
		`STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b)`:     `(FuncCall Name=STRING_AGG Args=[(ColumnRef Name=a) s","] WithinGroup=[(OrderItem Expr=(ColumnRef Name=b))])`,
		`$action`:                          `(PseudoColumn Name="$action")`,
		`a IS DISTINCT FROM NULL`:          `(IsDistinct L=(ColumnRef Name=a) R=null"")`,
		"/* a /* nested */ b */ 1 -- tail": `i"1"`,
	} {
		t.Run(sql, func(t *testing.T) {
			assert.Equal(t, want, dump(parseExpr(t, sql)))
		})
	}
}

func TestParse_Trees(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT TOP (@n) PERCENT a AS x, y = b, t.*, 'lit' 'z' FROM dbo.t t WITH (NOLOCK, INDEX(ix)) WHERE a > 1 ORDER BY 1 DESC OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY`: `[(Select Query=(SelectQuery ` +
			`Body=(SelectSpec Top=(Top N=(Variable Name="@n") Percent) Items=[(SelectItem Expr=(ColumnRef Name=a) Alias="x" HasAlias) (SelectItem Expr=(ColumnRef Name=b) Alias="y" HasAlias) ` +
			`(SelectItem Star Qualifier=t) (SelectItem Expr=s"lit" Alias="z" HasAlias)] From=[(TableRef Name=dbo.t Alias="t" Hints=[(TableHint Name="NOLOCK") (TableHint Name="INDEX" Args=["ix"])])] ` +
			`Where=(Binary Op=">" L=(ColumnRef Name=a) R=i"1")) OrderBy=[(OrderItem Expr=i"1" Desc)] Offset=i"1" Fetch=i"2"))]`,
		`SELECT @a = 1, @b += 2`: `[(Select Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1" Variable="@a" AssignOp="=") (SelectItem Expr=i"2" Variable="@b" AssignOp="+=")])))]`,
		`SELECT 1 FROM a JOIN b ON a.x = b.x LEFT JOIN c CROSS JOIN d ON 1 = 1`: `[(Select Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1")] From=[(Join Kind=1 ` +
			`L=(Join L=(TableRef Name=a) R=(TableRef Name=b) On=(Binary Op="=" L=(ColumnRef Name=a.x) R=(ColumnRef Name=b.x))) ` +
			`R=(Join Kind=4 L=(TableRef Name=c) R=(TableRef Name=d)) On=(Binary Op="=" L=i"1" R=i"1"))])))]`,
		`SELECT 1 FROM ((SELECT 1 AS a) AS x CROSS APPLY f(x.a) AS y), (VALUES (1), (2)) v (n)`: `[(Select Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1")] From=[(Join Kind=5 ` +
			`L=(DerivedTable Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1" Alias="a" HasAlias)])) Alias="x") R=(FuncTable Call=(FuncCall Name=f Args=[(ColumnRef Name=x.a)]) Alias="y")) ` +
			`(ValuesTable Rows=[[i"1"] [i"2"]] Alias="v" Columns=["n"])])))]`,
		`SELECT 1 UNION ALL SELECT 2 INTERSECT (SELECT 3)`: `[(Select Query=(SelectQuery Body=(SetOperation Op=1 L=(SelectSpec Items=[(SelectItem Expr=i"1")]) ` +
			`R=(SetOperation Op=3 L=(SelectSpec Items=[(SelectItem Expr=i"2")]) R=(ParenQuery Body=(SelectSpec Items=[(SelectItem Expr=i"3")]))))))]`,
		`;WITH c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c OPTION (MAXRECURSION 10, RECOMPILE)`: `[(Select Query=(SelectQuery With=[(CTE Name="c" Columns=["n"] ` +
			`Query=(SelectQuery Body=(SetOperation Op=1 L=(SelectSpec Items=[(SelectItem Expr=i"1")]) R=(SelectSpec Items=[(SelectItem Expr=(Binary Op="+" L=(ColumnRef Name=n) R=i"1"))] From=[(TableRef Name=c)]))))] ` +
			`Body=(SelectSpec Items=[(SelectItem Expr=(ColumnRef Name=n))] From=[(TableRef Name=c)]) Options=[(QueryOption Name="MAXRECURSION" Value=i"10") (QueryOption Name="RECOMPILE")]))]`,
		`INSERT INTO t (a, b) OUTPUT inserted.a INTO @x VALUES (1, DEFAULT), (2, 3)`: `[(Insert Target=(Target Name=t) Columns=["a" "b"] Output=(OutputClause Items=[(SelectItem Expr=(ColumnRef Name=inserted.a))] ` +
			`Into=(Target Variable="@x")) Rows=[[i"1" (DefaultValue)] [i"2" i"3"]])]`,
		`INSERT t EXEC dbo.p @a = 1, @b OUTPUT`: `[(Insert Target=(Target Name=t) Exec=(Exec Proc=dbo.p Args=[(ExecArg Name="@a" Value=i"1") (ExecArg Value=(Variable Name="@b") Output)]))]`,
		`UPDATE TOP (1) x SET @v = a = b + 1, c.WRITE('x', 0, 1), d -= 1 FROM t x WHERE x.id = 1`: `[(Update Top=(Top N=i"1") Target=(Target Name=x) ` +
			`Set=[(SetItem Column=a Variable="@v" Op="=" Value=(Binary Op="+" L=(ColumnRef Name=b) R=i"1")) (SetItem Column=c Method=(MethodCall X=(ColumnRef Name=c) Name="WRITE" Args=[s"x" i"0" i"1"] Call)) ` +
			`(SetItem Column=d Op="-=" Value=i"1")] From=[(TableRef Name=t Alias="x")] Where=(Binary Op="=" L=(ColumnRef Name=x.id) R=i"1"))]`,
		`DELETE FROM t OUTPUT deleted.* WHERE a IN (SELECT b FROM u)`: `[(Delete Target=(Target Name=t) Output=(OutputClause Items=[(SelectItem Star Qualifier=deleted)]) ` +
			`Where=(In X=(ColumnRef Name=a) Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=(ColumnRef Name=b))] From=[(TableRef Name=u)]))))]`,
		`MERGE t WITH (HOLDLOCK) AS d USING s ON d.k = s.k WHEN MATCHED AND s.x > 1 THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k) WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action;`: `[(Merge ` +
			`Target=(Target Name=t Alias="d" Hints=[(TableHint Name="HOLDLOCK")]) Using=(TableRef Name=s) On=(Binary Op="=" L=(ColumnRef Name=d.k) R=(ColumnRef Name=s.k)) ` +
			`Whens=[(MergeWhen And=(Binary Op=">" L=(ColumnRef Name=s.x) R=i"1") Set=[(SetItem Column=v Op="=" Value=(ColumnRef Name=s.v))]) ` +
			`(MergeWhen Match=1 Action=2 Columns=["k"] Values=[(ColumnRef Name=s.k)]) (MergeWhen Match=2 Action=1)] Output=(OutputClause Items=[(SelectItem Expr=(PseudoColumn Name="$action"))]))]`,
		`CREATE TABLE [dbo].[t] (id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, a nvarchar(50) COLLATE Latin1_General_CI_AS NULL DEFAULT ('x'), c AS (id * 2) PERSISTED, v rowversion, CONSTRAINT ck CHECK (id > 0), UNIQUE (a DESC))`: `[(CreateTable ` +
			`Name=dbo.t Columns=[(ColumnDef Name="id" Type=int Null=2 Identity=(Identity Seed=i"1" Increment=i"1") Constraints=[(Constraint)]) ` +
			`(ColumnDef Name="a" Type=nvarchar[50] Collation="Latin1_General_CI_AS" Null=1 Constraints=[(Constraint Kind=4 Expr=s"x" ExprText="('x')")]) ` +
			`(ColumnDef Name="c" Computed=(Binary Op="*" L=(ColumnRef Name=id) R=i"2") ComputedText="(id * 2)" Persisted) (ColumnDef Name="v" Type=rowversion)] ` +
			`Constraints=[(Constraint Name="ck" Kind=3 Expr=(Binary Op=">" L=(ColumnRef Name=id) R=i"0") ExprText="(id > 0)") (Constraint Kind=1 Columns=[(IndexColumn Name="a" Desc)])])]`,
		`ALTER TABLE t ADD a int NULL, CONSTRAINT df DEFAULT 1 FOR b WITH VALUES`: `[(AlterTable Table=t AddColumns=[(ColumnDef Name="a" Type=int Null=1)] ` +
			`AddConstraints=[(Constraint Name="df" Kind=4 Expr=i"1" ExprText="1" ForColumn="b" WithValues)])]`,
		`ALTER TABLE t DROP COLUMN a, CONSTRAINT IF EXISTS c`: `[(AlterTable Table=t Drop=[(AlterDrop Name="a" Column) (AlterDrop Name="c" IfExists)])]`,
		`ALTER TABLE t ALTER COLUMN a varchar(10) NOT NULL`:   `[(AlterTable Table=t AlterColumn=(AlterColumn Name="a" Type=varchar[10] Null=2))]`,
		`CREATE UNIQUE INDEX ix ON t (a, b DESC) INCLUDE (c) WHERE a IS NOT NULL WITH (FILLFACTOR = 90) ON [PRIMARY]`: `[(CreateIndex Name="ix" Table=t Unique Columns=[(IndexColumn Name="a") (IndexColumn Name="b" Desc)] ` +
			`Include=["c"] Where=(IsNull X=(ColumnRef Name=a) Not) WhereText="a IS NOT NULL" Options=[(TableOption Name="FILLFACTOR" Value="90")])]`,
		`ALTER DATABASE [d] SET ALLOW_SNAPSHOT_ISOLATION ON, SINGLE_USER WITH ROLLBACK IMMEDIATE`: `[(AlterDatabase Name="d" Settings=[(DatabaseSetting Name="ALLOW_SNAPSHOT_ISOLATION" Value="ON") (DatabaseSetting Name="SINGLE_USER")] Rollback)]`,
		`DECLARE @a int = 1, @t TABLE (x int)`:                                                    `[(Declare Vars=[(VarDecl Name="@a" Type=int Value=i"1") (VarDecl Name="@t" Table=(TableType Columns=[(ColumnDef Name="x" Type=int)]))])]`,
		`IF @a = 1 PRINT 'x' ELSE BEGIN SET @a += 1; BREAK END`: `[(If Cond=(Binary Op="=" L=(Variable Name="@a") R=i"1") Then=(Print Value=s"x") ` +
			`Else=(Block Body=[(SetVariable Name="@a" Op="+=" Value=i"1") (Break)]))]`,
		`BEGIN TRY THROW 50000, 'x', 1; END TRY BEGIN CATCH THROW; END CATCH`:                     `[(Try Try=[(Throw Number=i"50000" Message=s"x" State=i"1")] Catch=[(Throw)])]`,
		`set implicit_transactions on `:                                                           `[(SetOption Names=["IMPLICIT_TRANSACTIONS"] On)]`,
		`set transaction isolation level  snapshot`:                                               `[(SetIsolation Level=5)]`,
		`SET LOCK_TIMEOUT -1 SET DEADLOCK_PRIORITY LOW`:                                           `[(SetValue Name="LOCK_TIMEOUT" Value=(Unary Op="-" X=i"1")) (SetValue Name="DEADLOCK_PRIORITY" Value=s"LOW")]`,
		`IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN [name]`: `[(If Cond=(Binary Op="=" L=(GlobalVariable Name="@@TRANCOUNT") R=i"0") Then=(Block Body=[(BeginTran) (If Cond=(Binary Op="=" L=(GlobalVariable Name="@@TRANCOUNT") R=i"2") Then=(Commit))])) (SaveTran Name="name")]`,
		`sp_rename 'a', b`: `[(Exec Proc=sp_rename Args=[(ExecArg Value=s"a") (ExecArg Value=n"b")])]`,
		`EXEC @r = [db].sys.sp_x @p1 = N'x', @p2 = DEFAULT`: `[(Exec ReturnVar="@r" Proc=db.sys.sp_x Args=[(ExecArg Name="@p1" Value=n"x") (ExecArg Name="@p2" Value=(DefaultValue))])]`,
		`EXEC ('a' + @b)`: `[(Exec Strings=[s"a" (Variable Name="@b")])]`,
		`GRANT SELECT (a), INSERT ON OBJECT::dbo.t TO u WITH GRANT OPTION`: `[(Permission Verb="GRANT" Permissions=[(Permission Name="SELECT" Columns=["a"]) (Permission Name="INSERT")] Class="OBJECT" On=dbo.t Principals=["u"] GrantOption)]`,
		`CREATE LOGIN l WITH PASSWORD = 'p', CHECK_POLICY = OFF`:           `[(Principal Kind="LOGIN" Name="l" Password="p" HasPassword Options=[(TableOption Name="CHECK_POLICY" Value="OFF")])]`,
		`ALTER ROLE db_owner ADD MEMBER u`:                                 `[(Principal Mode=1 Kind="ROLE" Name="db_owner" AddMember="u")]`,
		`CREATE OR ALTER PROCEDURE p @a int = 1, @b nvarchar(10) OUTPUT AS SELECT 1; RETURN 2`: `[(CreateProcedure Mode=2 Name=p Params=[(Param Name="@a" Type=int Default=i"1") (Param Name="@b" Type=nvarchar[10] Output)] ` +
			`Body=[(Select Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1")]))) (Return Value=i"2")])]`,
		`CREATE FUNCTION f(@a int) RETURNS TABLE AS RETURN (SELECT @a AS x)`:                    `[(CreateFunction Name=f Params=[(Param Name="@a" Type=int)] Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=(Variable Name="@a") Alias="x" HasAlias)])))]`,
		`RESTORE DATABASE d FROM DISK = 'x' WITH REPLACE, KEEP_CDC`:                             `[(Restore Database="d" From=["x"] Options=[(TableOption Name="REPLACE") (TableOption Name="KEEP_CDC")])]`,
		`UPDATE STATISTICS t WITH FULLSCAN SELECT 1`:                                            `[(Other What="UPDATE STATISTICS") (Select Query=(SelectQuery Body=(SelectSpec Items=[(SelectItem Expr=i"1")])))]`,
		`INSERT BULK t ([a] int, [b] nvarchar(10) COLLATE Latin1_General_CI_AS) WITH (TABLOCK)`: `[(InsertBulk Table=t Columns=[(ColumnDef Name="a" Type=int) (ColumnDef Name="b" Type=nvarchar[10] Collation="Latin1_General_CI_AS")] Options=["TABLOCK"])]`,
	} {
		t.Run(sql, func(t *testing.T) {
			program, err := tsql.Parse(sql, tsql.Options{})
			require.NoError(t, err)
			assert.Equal(t, want, dump(program.Stmts))
		})
	}
}

// accepted are statements that must parse to exactly the number of statements
// given; their trees are not looked at.
var accepted = []struct {
	sql   string
	stmts int
}{
	{"", 0},
	{";;", 0},
	{"SELECT 1 SELECT 2; SELECT 3", 3},
	{"SELECT * FROM t WHERE EXISTS (SELECT 1) AND x > ALL (SELECT 1)", 1},
	{"SELECT ((SELECT 1)) + (((2)))", 1},
	{"SELECT * FROM (SELECT 1 a UNION (SELECT 2)) x", 1},
	{"SELECT * FROM ((SELECT 1 a) UNION ALL (SELECT 2)) x", 1},
	{"SELECT * FROM (a JOIN b ON a.i = b.i) JOIN (c CROSS JOIN d) ON 1 = 1", 1},
	{"SELECT * FROM t (NOLOCK) JOIN u WITH (READUNCOMMITTED READPAST) ON 1 = 1", 1},
	{"SELECT a FROM t GROUP BY ROLLUP(a, b) HAVING COUNT(*) > 1", 1},
	{"SELECT a FROM t GROUP BY a, b WITH CUBE", 1},
	{"SELECT a INTO #t FROM u FOR BROWSE", 1},
	{"SELECT a FROM t FOR XML PATH(''), TYPE", 1},
	{"SELECT name, [key], value FROM OPENJSON(@j) WITH (a int '$.a', b nvarchar(max) AS JSON) AS x", 1},
	{"SELECT x.n.value('.', 'int') FROM @x.nodes('/a') AS x(n)", 1},
	{"INSERT t DEFAULT VALUES INSERT t SELECT 1 INSERT t (a) (SELECT 1)", 3},
	{"INSERT INTO t WITH (TABLOCK) (a) WITH c AS (SELECT 1 x) SELECT x FROM c", 1},
	{"WITH c AS (SELECT 1 x) DELETE c; WITH c AS (SELECT 1 x) UPDATE c SET x = 2", 2},
	{"DELETE t FROM t JOIN u ON t.a = u.a", 1},
	{"TRUNCATE TABLE dbo.t", 1},
	{"CREATE DATABASE d ON PRIMARY (NAME = a, FILENAME = 'x') LOG ON (NAME = b, FILENAME = 'y') COLLATE Latin1_General_CI_AS", 1},
	{"CREATE SCHEMA s AUTHORIZATION dbo", 1},
	{"CREATE TABLE t (a int REFERENCES u (b) ON DELETE CASCADE, b xml(CONTENT c), timestamp, c int SPARSE NULL, d uniqueidentifier ROWGUIDCOL DEFAULT NEWID(), " +
		"e varchar(10) MASKED WITH (FUNCTION = 'default()') NULL, INDEX ix NONCLUSTERED (a), PRIMARY KEY CLUSTERED (a ASC) WITH (PAD_INDEX = OFF) ON [PRIMARY], " +
		"FOREIGN KEY (a, b) REFERENCES v (a, b) NOT FOR REPLICATION,) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)", 1},
	{"ALTER TABLE t WITH NOCHECK ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (a) ALTER TABLE t CHECK CONSTRAINT c ALTER TABLE t NOCHECK CONSTRAINT ALL", 3},
	{"ALTER TABLE t SWITCH PARTITION 1 TO u PARTITION 2 ALTER TABLE t ENABLE TRIGGER ALL ALTER TABLE t REBUILD", 3},
	{"ALTER TABLE t SET (LOCK_ESCALATION = DISABLE) ALTER TABLE t ENABLE CHANGE_TRACKING WITH (TRACK_COLUMNS_UPDATED = ON)", 2},
	{"ALTER INDEX ALL ON t REBUILD WITH (ONLINE = ON) DROP INDEX IF EXISTS i ON t, t.j", 2},
	{"CREATE VIEW v (a) WITH SCHEMABINDING AS SELECT 1 FROM dbo.t WITH CHECK OPTION", 1},
	{"CREATE FUNCTION f() RETURNS @r TABLE (a int) AS BEGIN INSERT @r VALUES (1); RETURN END", 1},
	{"CREATE FUNCTION f(@a int) RETURNS int WITH SCHEMABINDING, RETURNS NULL ON NULL INPUT AS BEGIN RETURN (@a + 1) END", 1},
	{"CREATE FUNCTION f() RETURNS TABLE RETURN (SELECT 1 a) UNION ALL (SELECT 2)", 1},
	{"CREATE PROC p (@a int, @t dbo.tt READONLY) WITH EXECUTE AS OWNER AS BEGIN SET NOCOUNT ON; WITH c AS (SELECT 1 x) SELECT * FROM c END", 1},
	{"CREATE PROC p AS WITH c AS (SELECT 1 x) SELECT * FROM c", 1},
	{"CREATE TRIGGER tr ON t AFTER INSERT, UPDATE AS IF UPDATE(a) PRINT 'x'", 1},
	{"CREATE TRIGGER tr ON DATABASE FOR CREATE_TABLE AS PRINT 'x'", 1},
	{"CREATE TYPE dbo.n FROM nvarchar(10) NOT NULL CREATE TYPE tt AS TABLE (a int PRIMARY KEY) CREATE SYNONYM s FOR db.dbo.t", 3},
	{"DROP TABLE IF EXISTS a, dbo.b DROP PROC p DROP DATABASE d DROP TRIGGER tr ON DATABASE", 4},
	{"CREATE USER u FOR LOGIN l WITH DEFAULT_SCHEMA = dbo CREATE USER v WITHOUT LOGIN CREATE ROLE r AUTHORIZATION dbo ALTER LOGIN l DISABLE", 4},
	{"ALTER SERVER ROLE sysadmin ADD MEMBER l; DENY VIEW DEFINITION TO u; REVOKE SELECT ON SCHEMA::dbo FROM public CASCADE; GRANT CONTROL TO u AS dbo", 4},
	{"ALTER AUTHORIZATION ON DATABASE::d TO sa", 1},
	{"ALTER DATABASE d SET RECOVERY SIMPLE; ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 150; ALTER DATABASE d SET CHANGE_TRACKING = ON (CHANGE_RETENTION = 2 DAYS)", 3},
	{"ALTER DATABASE d ADD FILE (NAME = 'x'); ALTER DATABASE d MODIFY NAME = e; ALTER DATABASE d SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK AFTER 5 SECONDS", 3},
	{"WHILE 1 = 1 BEGIN IF @a > 1 CONTINUE; WAITFOR DELAY '00:00:01' END", 1},
	{"again: GOTO again", 2},
	{"RAISERROR('x %d', 16, 1, @a) WITH NOWAIT, LOG RETURN", 2},
	{"BEGIN TRAN t WITH MARK 'x' COMMIT WORK ROLLBACK TRANSACTION t SAVE TRANSACTION s ROLLBACK", 5},
	{"EXEC @p 1, -2.5, NULL, 0x01, @@SPID WITH RECOMPILE EXEC p WITH RESULT SETS NONE", 2},
	{"EXECUTE AS USER = 'u' REVERT EXEC ('SELECT 1') AS USER = 'u'", 3},
	{"USE [master] KILL 51 CHECKPOINT RECONFIGURE WITH OVERRIDE BACKUP DATABASE d TO DISK = 'x' WITH INIT, STATS = 10", 5},
	{"DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT 1 OPEN c FETCH NEXT FROM c INTO @a, @b CLOSE c DEALLOCATE c", 5},
	{"SET STATISTICS IO ON SET ANSI_NULLS, QUOTED_IDENTIFIER ON SET IDENTITY_INSERT dbo.t OFF SET DATEFORMAT dmy SET TEXTSIZE 2147483647", 5},
	{"DBCC CHECKIDENT ('t', RESEED, 0) WITH NO_INFOMSGS CREATE SEQUENCE s AS int START WITH 1 CREATE STATISTICS st ON t (a)", 3},
	{"DISABLE TRIGGER tr ON t ENABLE TRIGGER ALL ON DATABASE", 2},
	{"PRINT N'a' + CAST(1 AS varchar(10)) PRINT @@VERSION", 2},
	{"IF OBJECT_ID(N'dbo.t', N'U') IS NOT NULL DROP TABLE dbo.t", 1},
	{"SELECT [output], t.[select] AS [from] FROM [group] AS t", 1},
	{"SELECT a at, b time FROM t x", 1},
	{"SELECT * FROM sys.columns c WHERE c.object_id = OBJECT_ID('dbo.t') ORDER BY c.column_id COLLATE DATABASE_DEFAULT", 1},
	{"SELECT @P0 , @P1 FROM [db].cdc.[dbo_t_CT] WITH (NOLOCK) WHERE ([__$start_lsn] = @P0 AND [__$seqval] > @P1 ) OR [__$start_lsn] > @P0 ", 1},
}

func TestParse_Accepts(t *testing.T) {
	for _, tc := range accepted {
		t.Run(tc.sql, func(t *testing.T) {
			program, err := tsql.Parse(tc.sql, tsql.Options{})
			require.NoError(t, err)
			assert.Len(t, program.Stmts, tc.stmts)
		})
	}
}

func TestParse_Errors(t *testing.T) {
	for _, tc := range []struct {
		sql     string
		number  int32
		line    int32
		message string
	}{
		{"SELECT 1\nFROM", 102, 2, "Incorrect syntax near 'FROM'."},
		{"SELECT\n\n)", 102, 3, "Incorrect syntax near ')'."},
		{"SELECT 1 FROM WHERE", 156, 1, "Incorrect syntax near the keyword 'WHERE'."},
		{"SELECT 'a", 105, 1, "Unclosed quotation mark after the character string 'a'."},
		{"/* /* */", 113, 1, "Missing end comment mark '*/'."},
		{"SELECT 1\nWITH c AS (SELECT 1 x) SELECT x FROM c", 319, 2, ""},
		{"SELECT a WHERE 1", 4145, 1, ""},
		{"IF 1 SELECT 2", 4145, 1, ""},
		{"SELECT 1 = 1 + (2 > 1)", 102, 1, ""},
		{"CREATE TABLE t (a int)\nCREATE VIEW v AS SELECT 1", 111, 2, "'CREATE VIEW' must be the first statement in a query batch."},
		{"IF 1 = 1 CREATE PROC p AS SELECT 1", 111, 1, ""},
		{"MERGE t USING s ON 1 = 1 WHEN MATCHED THEN DELETE", 10713, 1, ""},
		{"SELECT a.b.c.d.e.f", 117, 1, ""},
		{"SELECT 1 AS []", 1038, 1, ""},
		{"SELECT " + strings.Repeat("x", 129), 103, 1, ""},
		{"SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), 191, 1, ""},
		{"SELECT " + strings.Repeat("-", 1) + strings.Repeat("~", 5000) + "1", 191, 1, ""},
		{strings.Repeat("IF 1 = 1 ", 5000) + "SELECT 1", 191, 1, ""},
		{"SELECT 1" + strings.Repeat(" + 1", 50000), 8631, 1, ""},
		{"SELECT # FROM t WHERE a = ?", 102, 1, "Incorrect syntax near '?'."},
		{"BEGIN SELECT 1", 102, 1, "Incorrect syntax near '1'."},
		{"BEGIN END", 156, 1, ""},
		{"foo bar baz", 102, 1, ""},
		{"SELECT TOP @n a FROM t", 102, 1, ""},
	} {
		t.Run(clip(tc.sql), func(t *testing.T) {
			_, err := tsql.Parse(tc.sql, tsql.Options{})
			var e *sqltypes.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tc.number, e.Number, e.Message)
			assert.Equal(t, tc.line, e.Line)
			if tc.message != "" {
				assert.Equal(t, tc.message, e.Message)
			}
		})
	}
}

func clip(s string) string { return s[:min(len(s), 60)] }

func TestParse_QuotedIdentifierOff(t *testing.T) {
	x, err := tsql.ParseExpr(`"a""b"`, tsql.Options{QuotedIdentifierOff: true})
	require.NoError(t, err)
	assert.Equal(t, `s"a\"b"`, dump(x))
}

func TestParse_Positions(t *testing.T) {
	const sql = "SELECT 1;\n\nCREATE TABLE t (\n  a int DEFAULT (1 + 2)\n)"
	program, err := tsql.Parse(sql, tsql.Options{})
	require.NoError(t, err)
	create := program.Stmts[1].(*tsql.CreateTableStmt)
	assert.Equal(t, 3, create.Line)
	assert.Equal(t, "CREATE TABLE t (\n  a int DEFAULT (1 + 2)\n)", create.Text(sql))
	assert.Equal(t, 4, create.Columns[0].Line)
	assert.Equal(t, "(1 + 2)", create.Columns[0].Constraints[0].ExprText)
}

func TestParseType(t *testing.T) {
	typ, err := tsql.ParseType("varchar ( max )", tsql.Options{})
	require.NoError(t, err)
	assert.Equal(t, []int{tsql.MaxLength}, typ.Args)
	_, err = tsql.ParseType("varchar(x)", tsql.Options{})
	require.Error(t, err)
}
