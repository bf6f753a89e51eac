-- A change of which no event can be made, where converting fails, is the last one:
-- Debezium reads on while its task ends, and what comes next may get out or not.
CREATE TABLE dbo.seats (id int PRIMARY KEY, until datetime2(7) NOT NULL)
INSERT dbo.seats VALUES (1, '2024-01-01')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.seats VALUES (2, '2024-01-02')
--> capture
--> wait quiet
INSERT dbo.seats VALUES (3, '9999-12-31')
--> capture
--> wait error until
