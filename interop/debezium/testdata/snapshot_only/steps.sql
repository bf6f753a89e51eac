-- The rows that are there are read once, and nothing else ever.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> start
--> wait snapshot_done
--> wait 3 records
--> stop
INSERT dbo.parts VALUES (3, 'c')
--> capture
--> clock +1s
--> start
--> wait snapshot_done
--> stop
