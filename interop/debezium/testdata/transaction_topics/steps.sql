-- Where beginnings and ends of transactions go. The last one does not end: the
-- capture job has not found the log empty.
CREATE TABLE dbo.a (id int PRIMARY KEY)
CREATE TABLE dbo.b (id int PRIMARY KEY)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
BEGIN TRAN
INSERT dbo.b VALUES (1), (2)
INSERT dbo.a VALUES (1)
DELETE dbo.b WHERE id = 1
COMMIT
--> capture
--> wait quiet
UPDATE dbo.a SET id = 2
--> capture
--> wait quiet
INSERT dbo.a VALUES (3)
--> capture
--> wait quiet
