-- A table in the one or the other database, and with another prefix.
CREATE TABLE dbo.t (id int PRIMARY KEY)
INSERT dbo.t VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.t VALUES (2)
--> capture
--> wait quiet
