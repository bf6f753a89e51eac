-- What the connector tells of its snapshot: of three tables, one of them empty;
-- and of a snapshot that was done before.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.shelves (id int PRIMARY KEY)
CREATE TABLE dbo.stores (id int PRIMARY KEY)
INSERT dbo.parts VALUES (1, 'a'), (2, 'b'), (3, 'c')
INSERT dbo.stores VALUES (7), (8)
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'shelves', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'stores', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.stores VALUES (9)
--> capture
--> wait quiet
--> restart
INSERT dbo.shelves VALUES (1)
--> capture
--> wait quiet
