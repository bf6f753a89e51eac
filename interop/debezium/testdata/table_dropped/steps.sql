-- A table is dropped while the connector runs, and its change table with it: by
-- the error that the function gives then it knows, and goes on with the others.
CREATE TABLE dbo.a (id int PRIMARY KEY)
CREATE TABLE dbo.b (id int PRIMARY KEY)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
--> capture
--> start
--> wait streaming
--> wait quiet
INSERT dbo.a VALUES (1)
INSERT dbo.b VALUES (1)
--> capture
--> wait quiet
DROP TABLE dbo.a
INSERT dbo.b VALUES (2)
--> capture
--> wait quiet
