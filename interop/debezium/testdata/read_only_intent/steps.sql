-- A connection with read intent: everything is read under snapshot isolation,
-- and the connector commits before each look for changes.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> wait quiet
UPDATE dbo.parts SET code = 'c'
--> capture
--> wait quiet
