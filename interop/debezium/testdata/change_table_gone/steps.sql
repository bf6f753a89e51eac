-- A table is no longer captured while the connector runs and reads change tables
-- itself: it fails, and goes on with the other table when it is started again.
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
EXEC sys.sp_cdc_disable_table N'dbo', N'a', N'dbo_a'
GO
INSERT dbo.a VALUES (2)
INSERT dbo.b VALUES (2)
--> capture
--> stop or error Invalid object name 'shop.cdc.dbo_a_CT'
--> start
--> wait quiet
