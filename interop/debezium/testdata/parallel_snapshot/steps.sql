-- A snapshot by several threads in chunks.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.pairs (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b))
CREATE TABLE dbo.none (v int NULL)
INSERT dbo.parts SELECT value, 'x' FROM GENERATE_SERIES(1, 6)
INSERT dbo.pairs SELECT value % 3, value FROM GENERATE_SERIES(1, 6)
INSERT dbo.none VALUES (1), (2)
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'pairs', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'none', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.parts VALUES (0, 'y')
--> capture
--> wait quiet
