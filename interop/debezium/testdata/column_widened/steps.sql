-- Columns that get wider: the capture job alters the change table in place.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL, n int NULL, price decimal(6, 2) NULL)
INSERT dbo.parts VALUES (1, 'a', 1, 1.5)
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
UPDATE dbo.parts SET n = 2
--> capture
--> wait quiet
ALTER TABLE dbo.parts ALTER COLUMN code varchar(40) NOT NULL
GO
INSERT dbo.parts VALUES (2, 'a much longer code than before', 3, 2.25)
--> capture
--> wait quiet
ALTER TABLE dbo.parts ALTER COLUMN n bigint NULL
GO
ALTER TABLE dbo.parts ALTER COLUMN price decimal(12, 2) NULL
GO
INSERT dbo.parts VALUES (3, 'x', 3000000000, 1234567.25)
--> capture
--> wait quiet
--> restart
INSERT dbo.parts VALUES (4, 'once more a longer code', 4000000000, 3)
--> capture
--> wait quiet
