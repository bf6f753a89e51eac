-- Heartbeats, each with a statement of its own.
CREATE TABLE dbo.seats (id int PRIMARY KEY)
CREATE TABLE dbo.beats (n int NOT NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
INSERT dbo.beats VALUES (0)
INSERT dbo.seats VALUES (1)
--> capture
--> start
--> wait streaming
--> wait 7 records
IF (SELECT n FROM dbo.beats) < 2 RAISERROR ('no beat has reached the table', 16, 1)
