-- The modes that lock give up after their timeout when another client holds the
-- table, with SQL Server's error 1222, and succeed once it is free.
CREATE TABLE dbo.seats (id int PRIMARY KEY, who varchar(20) NOT NULL)
INSERT dbo.seats VALUES (1, 'Ada'), (2, 'Bob')
EXEC sys.sp_cdc_enable_table N'dbo', N'seats', @role_name = NULL
--> capture
--> begin UPDATE dbo.seats SET who = 'not yet' WHERE id = 2
--> start
--> wait error Lock request time out period exceeded
--> commit
--> capture
--> start
--> wait quiet
