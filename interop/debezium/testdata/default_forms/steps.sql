-- Defaults in forms that are not those of their columns' types: numbers for
-- texts, texts for numbers, signs, exponents, sums, hexadecimal digits,
-- conversions and functions. Some have a constant value, some none.
CREATE TABLE dbo.integers (id int NOT NULL PRIMARY KEY, a int NULL DEFAULT (-5), b int NULL DEFAULT 1+1, c int NULL DEFAULT '7', d bigint NULL DEFAULT -9223372036854775808, e smallint NULL DEFAULT +3, f tinyint NULL DEFAULT 255,
  g int NULL DEFAULT 0x0A, h int NULL DEFAULT CONVERT(int, 12), i int NULL DEFAULT CAST('5' AS int), j int NULL DEFAULT 1e2, k int NULL DEFAULT NULL, l int NULL DEFAULT ((((4)))), m bigint NULL DEFAULT 2147483648, n int NULL DEFAULT 2.7, o int NULL DEFAULT - 5)
CREATE TABLE dbo.floats (id int NOT NULL PRIMARY KEY, a float NULL DEFAULT 1.5e-10, b float NULL DEFAULT -1, c real NULL DEFAULT 0.1, d float NULL DEFAULT 1e308, e real NULL DEFAULT 3.4e38, f float NULL DEFAULT .5, g float NULL DEFAULT '1.5', h float NULL DEFAULT pi(), i float NULL DEFAULT $1.5, j real NULL DEFAULT 16777217)
CREATE TABLE dbo.decimals (id int NOT NULL PRIMARY KEY, a decimal(10, 4) NULL DEFAULT -1.5, b decimal(10, 0) NULL DEFAULT 7, c money NULL DEFAULT 0, d smallmoney NULL DEFAULT -1.25, e decimal(38, 10) NULL DEFAULT 1234567890123456789012345678.0123456789,
  f decimal(10, 3) NULL DEFAULT '1.5', g money NULL DEFAULT '1,000.50', h decimal(10, 3) NULL DEFAULT .5, i decimal(10, 2) NULL DEFAULT CONVERT(decimal(10, 2), 3))
CREATE TABLE dbo.texts (id int NOT NULL PRIMARY KEY, a varchar(20) NULL DEFAULT 5, b nvarchar(20) NULL DEFAULT -1.50, c char(5) NULL DEFAULT 'ab', d varchar(20) NULL DEFAULT ' lead trail ', e varchar(20) NULL DEFAULT '', f varchar(max) NULL DEFAULT 'max', g text NULL DEFAULT 'text', h nvarchar(20) NULL DEFAULT N'😀')
CREATE TABLE dbo.times (id int NOT NULL PRIMARY KEY, a date NULL DEFAULT '20190203', b date NULL DEFAULT '2019/02/03', c datetime NULL DEFAULT 'Feb 3 2019 10:00AM', d time(0) NULL DEFAULT '10:11', e datetime2 NULL DEFAULT '2019-02-03T10:11:12.1234567', f datetimeoffset NULL DEFAULT '2019-02-03T10:00:00Z', g datetime NULL DEFAULT 0, h datetime NULL DEFAULT '', i time(3) NULL DEFAULT '10:11:12 PM', j datetime NULL DEFAULT {ts '2019-02-03 10:11:12'}, k date NULL DEFAULT NULL)
CREATE TABLE dbo.binaries (id int NOT NULL PRIMARY KEY, a varbinary(5) NULL DEFAULT 0x, b binary(4) NULL DEFAULT 0x01, c image NULL DEFAULT 0xFF, d varbinary(10) NULL DEFAULT CONVERT(varbinary(10), 'ab'), e binary(4) NULL DEFAULT 1)
INSERT dbo.integers (id) VALUES (1)
INSERT dbo.floats (id) VALUES (1)
INSERT dbo.decimals (id) VALUES (1)
INSERT dbo.texts (id) VALUES (1)
INSERT dbo.times (id) VALUES (1)
INSERT dbo.binaries (id) VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N'integers', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'floats', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'decimals', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'texts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'times', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'binaries', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.integers (id, a, f) VALUES (2, NULL, NULL)
INSERT dbo.decimals (id, f) VALUES (2, NULL)
INSERT dbo.texts (id, a, b) VALUES (2, NULL, NULL)
--> capture
--> wait quiet
