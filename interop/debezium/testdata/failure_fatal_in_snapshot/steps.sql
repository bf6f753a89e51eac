-- A row of a snapshot of which no event can be made, where converting fails, and no
-- other: Debezium reads on while its task ends, and what comes next may get out or
-- not.
CREATE TABLE dbo.seats (id int PRIMARY KEY, until datetime2(7) NOT NULL)
INSERT dbo.seats VALUES (1, '9999-12-31')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> start
--> wait error until
