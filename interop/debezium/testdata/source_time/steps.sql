-- A transaction that takes its time, beside short ones.
CREATE TABLE dbo.t (id int PRIMARY KEY)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
INSERT dbo.t VALUES (1)
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> clock +1s
INSERT dbo.t VALUES (2)
--> clock +1s
--> begin INSERT dbo.t VALUES (3)
--> clock +5s
INSERT dbo.t VALUES (4)
--> commit
--> capture
--> wait quiet
