-- A second capture instance with fewer columns. Debezium goes over to it where
-- it begins, and the column is missing from then on.
CREATE TABLE dbo.t (id int PRIMARY KEY, v varchar(10) NULL, w int NULL)
INSERT dbo.t VALUES (1, 'a', 1)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.t VALUES (2, 'before', 2)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @capture_instance = N'narrow', @captured_column_list = N'id, w'
GO
UPDATE dbo.t SET v = 'both', w = 3 WHERE id = 1
--> capture
--> wait quiet
--> stop
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'
GO
UPDATE dbo.t SET v = 'gone', w = 4 WHERE id = 1
INSERT dbo.t VALUES (3, 'gone', 3)
--> capture
--> start
--> wait quiet
