-- Reading committed rows waits for the transaction of another client, with no
-- timeout of its own, and gets its work.
CREATE TABLE dbo.seats (id int PRIMARY KEY, who varchar(20) NOT NULL)
INSERT dbo.seats VALUES (1, 'Ada'), (2, 'Bob')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> begin UPDATE dbo.seats SET who = 'Bert' WHERE id = 2
--> start
--> wait until EXISTS (SELECT * FROM sys.dm_tran_locks WHERE request_status = 'WAIT')
--> commit
--> wait snapshot_done
--> capture
--> wait quiet
