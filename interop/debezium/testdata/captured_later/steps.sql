-- Tables that are captured while the connector runs: one that was there at its
-- start, and one that was not; and one that is captured while it is down.
CREATE TABLE dbo.first (id int PRIMARY KEY)
CREATE TABLE dbo.there (id int PRIMARY KEY, v int NULL)
CREATE TABLE dbo.down (id int PRIMARY KEY, v int NULL)
INSERT dbo.first VALUES (1)
INSERT dbo.there VALUES (1, 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'first', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
EXEC sys.sp_cdc_enable_table N'dbo', N'there', @role_name = NULL
GO
INSERT dbo.there VALUES (2, 2)
INSERT dbo.first VALUES (2)
--> capture
--> wait quiet
CREATE TABLE dbo.new (id int PRIMARY KEY, name nvarchar(10) NOT NULL DEFAULT N'x')
GO
INSERT dbo.new VALUES (1, N'before')
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'new', @role_name = NULL
GO
INSERT dbo.new VALUES (2, N'after')
INSERT dbo.there VALUES (3, 3)
--> capture
--> wait quiet
--> stop
EXEC sys.sp_cdc_enable_table N'dbo', N'down', @role_name = NULL
GO
INSERT dbo.down VALUES (2, 2)
INSERT dbo.new VALUES (3, N'later')
--> capture
--> start
--> wait quiet
