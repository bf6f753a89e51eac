-- Schemas around keys and values, each on its own.
CREATE TABLE dbo.t (id int PRIMARY KEY, v varchar(10) NOT NULL DEFAULT 'x')
CREATE TABLE dbo.keyless (v int NULL)
INSERT dbo.t VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'keyless', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.t VALUES (2, 'b')
INSERT dbo.keyless VALUES (1)
UPDATE dbo.t SET v = 'c' WHERE id = 1
DELETE dbo.t
--> capture
--> wait quiet
