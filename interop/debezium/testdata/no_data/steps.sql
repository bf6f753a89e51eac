-- Without the rows that were there: the schema alone, and the changes after it.
CREATE TABLE dbo.seats (id int PRIMARY KEY, who varchar(20) NOT NULL)
INSERT dbo.seats VALUES (1, 'Ada'), (2, 'Bob')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
INSERT dbo.seats VALUES (3, 'before the start')
--> capture
--> start
--> wait streaming
UPDATE dbo.seats SET who = 'Bert' WHERE id = 2
--> capture
--> wait quiet
