-- Large values that updates touch or not, in a table of more than eight columns,
-- and such that must not be NULL.
CREATE TABLE dbo.docs (id int PRIMARY KEY, a1 int NULL, a2 int NULL, a3 int NULL, a4 int NULL, a5 int NULL, a6 int NULL, a7 int NULL,
  vm varchar(max) NULL, nvm nvarchar(max) NULL, vbm varbinary(max) NULL, t text NULL, nt ntext NULL, im image NULL, x xml NULL, z int NULL)
CREATE TABLE dbo.required (id int PRIMARY KEY, v int NULL, vm nvarchar(max) NOT NULL, t text NOT NULL, im image NOT NULL, x xml NOT NULL)
CREATE TABLE dbo.narrow (id int PRIMARY KEY, t text NULL, vm varchar(max) NULL, im image NULL)
INSERT dbo.docs VALUES (1, 1, 1, 1, 1, 1, 1, 1, 'vm', N'nvm', 0x01, 't', N'nt', 0x02, N'<x/>', 1), (2, 2, 2, 2, 2, 2, 2, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2)
INSERT dbo.required VALUES (1, 1, N'vm', 't', 0x03, N'<x/>')
INSERT dbo.narrow VALUES (1, 't', 'vm', 0x04)
EXEC sys.sp_cdc_enable_table N'dbo', N'docs', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'required', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'narrow', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
UPDATE dbo.docs SET a1 = 5
UPDATE dbo.docs SET z = 5 WHERE id = 1
UPDATE dbo.docs SET vm = 'new', t = 'new', x = N'<new/>' WHERE id = 1
UPDATE dbo.docs SET nvm = NULL, im = NULL, nt = N'new' WHERE id = 1
UPDATE dbo.docs SET vbm = 0x09, a7 = 9 WHERE id = 2
UPDATE dbo.required SET v = 2
UPDATE dbo.required SET vm = N'new', t = 'new'
UPDATE dbo.narrow SET vm = 'new'
UPDATE dbo.narrow SET t = 'new', im = 0x05
DELETE dbo.docs
DELETE dbo.required
DELETE dbo.narrow
--> capture
--> wait quiet
