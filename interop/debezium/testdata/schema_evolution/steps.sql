-- A column is added and captured by a second instance, which takes over at its
-- start; then a column is dropped, the first instance goes while the connector
-- is down, and a third one takes over. Rows between change and new instance
-- come as the old one has them.
CREATE TABLE dbo.parts (id int PRIMARY KEY, name varchar(20) NOT NULL, old int NULL)
INSERT dbo.parts VALUES (1, 'bolt', 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'one'
--> capture
--> start
--> wait snapshot_done
INSERT dbo.parts VALUES (2, 'nut', 2)
--> capture
--> wait quiet
ALTER TABLE dbo.parts ADD weight decimal(8, 3) NOT NULL DEFAULT 0.5
GO
INSERT dbo.parts VALUES (3, 'old shape', 3, 3)
--> capture
--> wait quiet
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'two'
GO
INSERT dbo.parts VALUES (4, 'new shape', 4, 4)
UPDATE dbo.parts SET weight = 5.125 WHERE id = 1
--> capture
--> wait quiet
--> stop
EXEC sys.sp_cdc_disable_table N'dbo', N'parts', N'one'
GO
ALTER TABLE dbo.parts DROP COLUMN old
GO
UPDATE dbo.parts SET name = 'without old' WHERE id = 2
--> capture
--> start
--> wait quiet
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'three'
GO
DELETE dbo.parts WHERE id = 3
ALTER TABLE dbo.parts ALTER COLUMN name nvarchar(40) NOT NULL
GO
UPDATE dbo.parts SET name = N'Schräubchen mit einem langen Namen' WHERE id = 1
--> capture
--> wait quiet
--> restart
INSERT dbo.parts VALUES (9, 'after a restart', 9)
--> capture
--> wait quiet
