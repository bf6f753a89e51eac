-- Texts that are masked, hashed and cut, in keys and rows, and columns that are
-- described by parameters of their schemas, in a table of more than eight.
CREATE TABLE dbo.people (id int NOT NULL, code varchar(12) NOT NULL, c char(6) NULL, v varchar(40) NULL, nc nchar(6) NULL, nv nvarchar(20) NULL,
  vm varchar(max) NULL, nvm nvarchar(max) NULL, t text NULL, nt ntext NULL, x xml NULL, u uniqueidentifier NULL,
  vb varbinary(20) NULL, vbm varbinary(max) NULL, n int NULL, d decimal(10, 3) NULL, f float(10) NULL, dt datetime2(3) NULL, m money NOT NULL DEFAULT 1.5, s varchar(20) NOT NULL DEFAULT 'none',
  CONSTRAINT pk PRIMARY KEY (id, code))
INSERT dbo.people VALUES
  (1, 'first', 'abc', 'some_name', N'äö', N'Zoë 😀 Müller', REPLICATE('long ', 20), N'日本語のテキスト', 'old text', N'alt', N'<a>1</a>', '6f9619ff-8b86-d011-b42d-00c04fc964ff', 0x0102030405060708090A, 0xFEFEFEFEFEFEFE, 5, 1.125, 0.5, '2024-01-02 03:04:05.678', 2, 'text'),
  (2, 'none', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, ''),
  (3, 'empty', '', '', N'', N'', '', N'', '', N'', N'', NULL, 0x, 0x, 0, 0, 0, NULL, 4, 'x')
EXEC sys.sp_cdc_enable_table N'dbo', N'people', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.people (id, code, v, nv, u, x) VALUES (4, 'fourth', 'a much longer name than that', N'ж😀ж😀ж', '11111111-2222-3333-4444-555555555555', N'<b/>')
UPDATE dbo.people SET u = '00000000-0000-0000-0000-000000000001' WHERE id = 4
UPDATE dbo.people SET v = 'another', vm = 'short' WHERE id = 1
UPDATE dbo.people SET code = 'moved' WHERE id = 3
DELETE dbo.people WHERE id = 2
--> capture
--> wait quiet
