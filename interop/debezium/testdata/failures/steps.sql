-- Changes with a value of which no event can be made, where converting fails: an
-- insert, an update that puts it right, and a delete, alone in their transaction
-- and among others.
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
INSERT dbo.seats VALUES (4, '2024-01-04'), (5, '9999-12-31'), (6, '2024-01-06')
UPDATE dbo.seats SET until = '2024-01-03' WHERE id = 3
DELETE dbo.seats WHERE id > 3
INSERT dbo.seats VALUES (7, '9999-12-31')
UPDATE dbo.seats SET id = 8 WHERE id = 7
INSERT dbo.seats VALUES (9, '2024-01-09')
--> capture
--> wait quiet
--> stop
