-- A changed key: of the primary key the log has a delete and an insert; of
-- another column that the connector is told to be the key it has an update,
-- which becomes a delete and an insert that point at each other.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.renamed (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a'), (2, 'b')
INSERT dbo.renamed VALUES (1, 'a'), (2, 'b')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'renamed', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
UPDATE dbo.parts SET id = 10 WHERE id = 1
UPDATE dbo.parts SET id = 20, code = 'bb' WHERE id = 2
UPDATE dbo.renamed SET code = 'aa' WHERE id = 1
UPDATE dbo.renamed SET id = 20, code = 'bb' WHERE id = 2
UPDATE dbo.renamed SET code = 'aa'
--> capture
--> wait quiet
