-- Every type of SQL Server with its bounds and with nothing, in the snapshot and
-- in all images of the log, in each mode of times, decimals and binaries.
CREATE TABLE dbo.numbers (id int PRIMARY KEY,
  b bit NULL, t tinyint NULL, s smallint NULL, i int NULL, l bigint NULL, r real NULL, f float NULL, f10 float(10) NULL,
  d decimal(38, 10) NULL, n numeric(5, 0) NULL, m money NULL, sm smallmoney NULL)
CREATE TABLE dbo.times (id int PRIMARY KEY,
  d date NULL, t0 time(0) NULL, t3 time(3) NULL, t4 time(4) NULL, t7 time(7) NULL,
  dt datetime NULL, sdt smalldatetime NULL, dt0 datetime2(0) NULL, dt3 datetime2(3) NULL, dt6 datetime2(6) NULL, dt7 datetime2(7) NULL,
  o0 datetimeoffset(0) NULL, o3 datetimeoffset(3) NULL, o7 datetimeoffset(7) NULL)
CREATE TABLE dbo.texts (id int PRIMARY KEY,
  c char(5) NULL, vc varchar(50) NULL, vcm varchar(max) NULL, nc nchar(5) NULL, nvc nvarchar(50) NULL, nvcm nvarchar(max) NULL,
  t text NULL, nt ntext NULL, x xml NULL, sn sysname NULL)
CREATE TABLE dbo.others (id int PRIMARY KEY,
  u uniqueidentifier NULL, bi binary(4) NULL, vb varbinary(20) NULL, vbm varbinary(max) NULL, im image NULL,
  v sql_variant NULL, h hierarchyid NULL, computed AS id * 2, rv rowversion)
INSERT dbo.numbers VALUES
  (1, 0, 0, -32768, -2147483648, -9223372036854775808, -3.4E38, -1.79E308, -1.5, -9999999999999999999999999999.9999999999, -99999, -922337203685477.5808, -214748.3648),
  (2, 1, 255, 32767, 2147483647, 9223372036854775807, 1.18E-38, 2.23E-308, 0.1, 9999999999999999999999999999.9999999999, 99999, 922337203685477.5807, 214748.3647),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, 1, 1, 1, 1, 9007199254740993, 16777216, 1e7, 100, 1.5, 10, 0.0001, -0.5)
INSERT dbo.times VALUES
  (1, '0001-01-01', '00:00:00', '00:00:00', '00:00:00', '00:00:00', '1753-01-01', '1900-01-01', '0001-01-01', '0001-01-01', '0001-01-01', '1970-01-01 00:00:00.0000001', '0001-01-01 00:00:00 +00:00', '1900-01-01 12:00:00.5 -05:30', '1969-12-31 23:59:59.9999999 +14:00'),
  (2, '9999-12-31', '23:59:59', '23:59:59.999', '23:59:59.9999', '23:59:59.9999999', '9999-12-31T23:59:59.997', '2079-06-06 23:59', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999999', '2262-04-11 23:47:16.8547758', '9999-12-31 23:59:59 +00:00', '2024-02-29 10:00:00.125 +01:00', '2024-02-29 10:00:00 -14:00'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, '2018-07-13', '10:23:45', '10:23:45.678', '10:23:45.6789', '10:23:45.6789012', '2018-07-13 13:23:45.78', '2018-07-13 14:23:45', '2018-07-13 11:23:45', '2018-07-13 11:23:45.34', '2018-07-13 11:23:45.345678', '2018-07-13 11:23:45.3456789', '2018-07-13 12:23:45 +11:00', '2018-07-13 12:23:45.456 +11:00', '2018-07-13 12:23:45.4567891 +11:00')
INSERT dbo.texts VALUES
  (1, 'ab', 'caf' + CHAR(233), REPLICATE('x', 30), N'日本', N'𝄞 "q" \ /' + NCHAR(9), REPLICATE(N'ж', 30), 'old text', N'old ж', N'<a b="1"><c/>text &amp; more</a>', N'name'),
  (2, '', '', '', N'', N'', N'', '', N'', N'', N''),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
INSERT dbo.others (id, u, bi, vb, vbm, im, v, h) VALUES
  (1, '6f9619ff-8b86-d011-b42d-00c04fc964ff', 0x01, 0x00FF10, 0xFEFEFE, 0x0102, 42, '/1/'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'numbers', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'times', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'texts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'others', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.numbers SELECT id + 10, b, t, s, i, l, r, f, f10, d, n, m, sm FROM dbo.numbers
INSERT dbo.times SELECT id + 10, d, t0, t3, t4, t7, dt, sdt, dt0, dt3, dt6, dt7, o0, o3, o7 FROM dbo.times
INSERT dbo.texts SELECT id + 10, c, vc, vcm, nc, nvc, nvcm, t, nt, x, sn FROM dbo.texts
INSERT dbo.others (id, u, bi, vb, vbm, im, v, h) SELECT id + 10, u, bi, vb, vbm, im, v, h FROM dbo.others
UPDATE dbo.texts SET c = 'new' WHERE id = 11
UPDATE dbo.texts SET vcm = 'changed', nvcm = NULL, t = 'changed', x = N'<new/>' WHERE id = 11
UPDATE dbo.others SET bi = 0x02 WHERE id = 11
UPDATE dbo.others SET vbm = 0x03, im = 0x04 WHERE id = 11
DELETE dbo.numbers WHERE id > 10
DELETE dbo.texts WHERE id = 11
DELETE dbo.others WHERE id = 11
--> capture
--> wait quiet
