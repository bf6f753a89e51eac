-- The server goes away and comes back: the connector starts again by itself and
-- loses nothing.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.parts VALUES (3, 'c')
--> capture
--> wait quiet
--> disconnect
INSERT dbo.parts VALUES (4, 'd')
DELETE dbo.parts WHERE id = 1
--> capture
--> wait quiet
