-- Begin and end of transactions, and the place of each change in its own. An
-- end comes before the next begin, or, for the last one, when twice the capture
-- job's interval has passed and its newest scan has found the log empty.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL)
CREATE TABLE dbo.b (id int PRIMARY KEY, v int NULL)
INSERT dbo.a VALUES (1, 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
EXEC sys.sp_cdc_change_job N'capture', @pollinginterval = 1
--> capture
--> start
--> wait snapshot_done
--> wait quiet
BEGIN TRAN
INSERT dbo.a VALUES (2, 2), (3, 3)
INSERT dbo.b VALUES (1, 1)
UPDATE dbo.a SET id = 4 WHERE id = 2
DELETE dbo.a WHERE id = 1
COMMIT
--> clock +2s
UPDATE dbo.b SET v = 2
--> capture
--> wait 12 records
--> clock +1s
DELETE dbo.b
--> capture
--> wait 4 records
--> capture
--> wait 1 record
