-- A start before the capture job has ever run: the database has no maximum LSN.
CREATE TABLE dbo.t (id int PRIMARY KEY)
CREATE TABLE dbo.u (id int PRIMARY KEY)
INSERT dbo.t VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL
--> start
--> wait snapshot_done
INSERT dbo.u VALUES (2)
--> capture
--> wait quiet
INSERT dbo.t VALUES (3)
--> capture
--> wait quiet
