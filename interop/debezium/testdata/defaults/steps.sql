-- Defaults of columns in the schemas of keys and rows, as texts of every form
-- that SQL Server stores, and those that Debezium leaves out.
CREATE TABLE dbo.defaults (id int NOT NULL DEFAULT 7,
  b bit NOT NULL DEFAULT 1, b0 bit NULL DEFAULT NULL, i int NULL DEFAULT -5, l bigint NOT NULL DEFAULT 3147483648, f float NOT NULL DEFAULT 1234.5, r real NULL DEFAULT 1e3,
  d decimal(10, 4) NOT NULL DEFAULT 100.12, m money NOT NULL DEFAULT 922.5, c char(3) NOT NULL DEFAULT 'ab', v varchar(20) NOT NULL DEFAULT 'it''s (so)', n nvarchar(20) NULL DEFAULT N'ж',
  vb varbinary(5) NOT NULL DEFAULT 0x0102, dt datetime NOT NULL DEFAULT '2019-01-01 12:34:56', da date NOT NULL DEFAULT '2019-02-03', t time(4) NOT NULL DEFAULT '12:34:56', d2 datetime2(6) NOT NULL DEFAULT '2019-01-01 12:34:56.123456', o datetimeoffset NOT NULL DEFAULT '2019-01-01 00:00:00.1234567 +02:00',
  now datetime NULL DEFAULT getdate(), who sysname NULL DEFAULT suser_sname(), u uniqueidentifier NULL DEFAULT newid(),
  CONSTRAINT pk PRIMARY KEY (id))
INSERT dbo.defaults (now, who, u) VALUES (NULL, NULL, NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'defaults', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.defaults (id, b0, i, r, n, now, who, u) VALUES (8, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
--> capture
--> wait quiet
