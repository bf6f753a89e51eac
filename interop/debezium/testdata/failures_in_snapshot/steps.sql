-- Rows of a snapshot of which no event can be made, where converting fails: among
-- others, and the last one.
CREATE TABLE dbo.seats (id int PRIMARY KEY, until datetime2(7) NOT NULL)
INSERT dbo.seats VALUES (1, '2024-01-01'), (2, '9999-12-31'), (3, '2024-01-03'), (4, '9999-12-31')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> stop
