-- Two captured tables, and one that is not, against a limit of tables.
CREATE TABLE dbo.one (id int PRIMARY KEY)
CREATE TABLE dbo.plain (id int PRIMARY KEY)
CREATE TABLE dbo.two (id int PRIMARY KEY)
INSERT dbo.one VALUES (1)
INSERT dbo.two VALUES (2)
EXEC sys.sp_cdc_enable_table N'dbo', N'one', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'two', @role_name = NULL
--> capture
--> start
--> stop or error tables
