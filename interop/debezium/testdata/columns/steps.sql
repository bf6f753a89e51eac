-- Columns that are left out or taken, changes that only columns that are left
-- out have, and operations that are skipped.
CREATE TABLE dbo.people (id int PRIMARY KEY, name nvarchar(30) NOT NULL, secret varchar(20) NULL, note varchar(50) NULL, n int NOT NULL DEFAULT 0)
CREATE TABLE dbo.pairs (a int NOT NULL, b int NOT NULL, v varchar(10) NULL, w varchar(10) NULL, PRIMARY KEY (a, b))
INSERT dbo.people VALUES (1, N'Ada', 's1', 'first', 1), (2, N'Bob', 's2', NULL, 2)
INSERT dbo.pairs VALUES (1, 1, 'v', 'w')
EXEC sys.sp_cdc_enable_table N'dbo', N'people', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'pairs', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.people VALUES (3, N'Cid', 's3', 'third', 3)
UPDATE dbo.people SET secret = 'changed' WHERE id = 1
UPDATE dbo.people SET name = N'Adele' WHERE id = 1
UPDATE dbo.people SET secret = 'again', n = 7 WHERE id IN (1, 2)
UPDATE dbo.people SET id = 12 WHERE id = 2
DELETE dbo.people WHERE id = 3
INSERT dbo.pairs VALUES (2, 1, 'x', 'y')
UPDATE dbo.pairs SET w = 'z'
UPDATE dbo.pairs SET b = b + 1, v = 'moved'
DELETE dbo.pairs WHERE a = 2
--> capture
--> wait quiet
