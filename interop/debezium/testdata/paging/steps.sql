-- Many rows and transactions, read in small pages and passes.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL)
CREATE TABLE dbo.b (id int PRIMARY KEY, v int NULL)
INSERT dbo.a SELECT value, value FROM GENERATE_SERIES(1, 20)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.b SELECT id, v FROM dbo.a
UPDATE dbo.a SET v = v + 1
BEGIN TRAN
UPDATE dbo.a SET id = id + 5
UPDATE dbo.b SET v = NULL WHERE id % 2 = 0
DELETE dbo.a WHERE id > 15
COMMIT
DELETE dbo.b
--> capture
--> wait quiet
