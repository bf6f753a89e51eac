-- Restarts behind a snapshot that had no rows: nothing was stored for it, so
-- Debezium begins anew, with the tables as they are by then.
CREATE TABLE dbo.t (id int PRIMARY KEY)
CREATE TABLE dbo.u (id int PRIMARY KEY)
CREATE TABLE dbo.w (id int PRIMARY KEY)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'w', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> stop
INSERT dbo.t VALUES (1)
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.w VALUES (2)
--> capture
--> wait quiet
