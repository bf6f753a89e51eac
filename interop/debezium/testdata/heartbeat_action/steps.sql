-- A statement that runs with the heartbeat at the end of the snapshot; the next
-- one would be due in a day.
CREATE TABLE dbo.seats (id int PRIMARY KEY)
CREATE TABLE dbo.beats (n int IDENTITY PRIMARY KEY, who varchar(10) NOT NULL)
INSERT dbo.seats VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'beats', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.seats VALUES (2)
--> capture
--> wait quiet
