-- A table is captured no more and then anew, by an instance of the same name,
-- while the connector is down.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL)
CREATE TABLE dbo.b (id int PRIMARY KEY)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
INSERT dbo.a VALUES (1, 1)
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.a VALUES (2, 2)
INSERT dbo.b VALUES (2)
--> capture
--> wait quiet
--> stop
--> clock +1s
EXEC sys.sp_cdc_disable_table N'dbo', N'a', N'dbo_a'
GO
INSERT dbo.a VALUES (3, 3)
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
GO
INSERT dbo.a VALUES (4, 4)
INSERT dbo.b VALUES (4)
--> capture
--> start
--> wait quiet
