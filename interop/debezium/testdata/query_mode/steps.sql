-- Both ways to read change tables: transactions over two tables, a deferred
-- update of a primary key, which the log has as deletes and inserts, a
-- transaction rolled back in part, and more transactions than one round reads.
CREATE TABLE dbo.seats (id int NOT NULL PRIMARY KEY, seat int NOT NULL UNIQUE, who varchar(20) NULL)
CREATE TABLE dbo.log (id int IDENTITY PRIMARY KEY, what varchar(30) NOT NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'log', @role_name = NULL
--> capture
--> start max.iteration.transactions=3
--> wait streaming
BEGIN TRAN
INSERT dbo.log VALUES ('first')
INSERT dbo.seats VALUES (1, 11, 'Ada'), (2, 12, 'Bob'), (3, 13, NULL)
INSERT dbo.log VALUES ('second')
COMMIT
GO
BEGIN TRAN
UPDATE dbo.seats SET who = 'Cem' WHERE id = 3
SAVE TRAN here
DELETE dbo.seats
INSERT dbo.log VALUES ('never')
ROLLBACK TRAN here
INSERT dbo.log VALUES ('third')
COMMIT
GO
UPDATE dbo.seats SET id = id + 1
GO
UPDATE dbo.seats SET seat = seat + 1
GO
UPDATE dbo.seats SET seat = seat + 100 WHERE id = 2
GO
DELETE dbo.seats WHERE id = 3
GO
UPDATE dbo.seats SET who = who
GO
MERGE dbo.seats AS t USING (VALUES (2, 21, 'Dora'), (9, 29, 'Emil')) AS s (id, seat, who) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET who = s.who WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.seat, s.who);
GO
--> capture
--> wait quiet
