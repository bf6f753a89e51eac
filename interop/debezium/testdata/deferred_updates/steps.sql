-- Updates that swap keys and unique values, which the log has as deletes and
-- inserts, over two tables in one transaction, and one that cascades.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NOT NULL)
CREATE TABLE dbo.b (id int PRIMARY KEY, u int NOT NULL UNIQUE)
CREATE TABLE dbo.parents (id int PRIMARY KEY)
CREATE TABLE dbo.children (id int PRIMARY KEY, parent int NULL REFERENCES dbo.parents (id) ON UPDATE CASCADE ON DELETE CASCADE)
INSERT dbo.a VALUES (1, 1), (2, 2), (3, 3)
INSERT dbo.b VALUES (1, 1), (2, 2), (3, 3)
INSERT dbo.parents VALUES (1), (2)
INSERT dbo.children VALUES (1, 1), (2, 1), (3, 2)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'parents', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'children', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
BEGIN TRAN
UPDATE dbo.a SET id = 4 - id
UPDATE dbo.b SET u = 4 - u
UPDATE dbo.b SET id = id + 1
INSERT dbo.a VALUES (4, 4)
UPDATE dbo.a SET id = id + 1, v = v + 1
UPDATE dbo.b SET u = u + 1 WHERE id < 4
COMMIT
GO
UPDATE dbo.parents SET id = id + 1
GO
DELETE dbo.parents WHERE id = 2
--> capture
--> wait quiet
