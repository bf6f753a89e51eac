-- The connector goes on behind what it has emitted: after a regular stop with
-- nothing new, and with transactions over both tables captured meanwhile.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL)
CREATE TABLE dbo.b (id int PRIMARY KEY, v int NULL)
INSERT dbo.a VALUES (1, 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
INSERT dbo.a VALUES (2, 2)
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> restart
--> wait quiet
INSERT dbo.b VALUES (1, 1), (2, 2), (3, 3)
--> capture
--> wait quiet
--> stop
BEGIN TRAN
UPDATE dbo.b SET v = v + 1
UPDATE dbo.a SET id = id + 10
DELETE dbo.b WHERE id = 2
COMMIT
UPDATE dbo.a SET v = 0 WHERE id = 11
--> capture
--> start
--> wait quiet
--> restart
--> wait quiet
