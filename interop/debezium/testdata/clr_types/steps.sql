-- Types that SQL Server keeps as serialised objects, and sql_variant.
CREATE TABLE dbo.shapes (id int PRIMARY KEY, h hierarchyid NULL, g geometry NULL, gg geography NULL, v sql_variant NULL, name varchar(10) NOT NULL)
INSERT dbo.shapes (id, h, name) VALUES (1, '/1/2/', 'a'), (2, '/', 'b'), (3, NULL, 'c')
UPDATE dbo.shapes SET g = CONVERT(geometry, 0x00000000010C000000000000F03F0000000000000040), gg = CONVERT(geography, 0xE6100000010C17D9CEF753D347407593180456965EC0), v = 5 WHERE id = 1
EXEC sys.sp_cdc_enable_table N'dbo', N'shapes', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.shapes SELECT id + 10, h, g, gg, v, name FROM dbo.shapes
UPDATE dbo.shapes SET h = '/3/', v = 'text' WHERE id = 11
DELETE dbo.shapes WHERE id = 11
--> capture
--> wait quiet
