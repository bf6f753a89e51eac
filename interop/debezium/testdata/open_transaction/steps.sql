-- A transaction of another client is open during the snapshot: reading
-- uncommitted rows shows its work, a snapshot shows what was before. Neither
-- waits for it.
CREATE TABLE dbo.seats (id int PRIMARY KEY, who varchar(20) NOT NULL)
INSERT dbo.seats VALUES (1, 'Ada'), (2, 'Bob')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> begin UPDATE dbo.seats SET who = 'not yet' WHERE id = 2; INSERT dbo.seats VALUES (3, 'neither')
--> start
--> wait snapshot_done
--> rollback
UPDATE dbo.seats SET who = 'now' WHERE id = 2
--> capture
--> wait quiet
