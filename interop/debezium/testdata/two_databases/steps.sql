-- One connector for two databases; each has a topic, a log and an offset of its
-- own.
CREATE TABLE dbo.t (id int PRIMARY KEY)
INSERT dbo.t VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
USE Store
CREATE TABLE dbo.t (name nvarchar(10) PRIMARY KEY)
INSERT dbo.t VALUES (N'a')
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.t VALUES (2)
--> capture
--> wait quiet
--> stop
USE Store
INSERT dbo.t VALUES (N'b')
DELETE dbo.t WHERE name = N'a'
--> capture
--> start
--> wait quiet
