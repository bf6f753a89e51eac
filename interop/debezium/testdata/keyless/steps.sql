-- Tables without a primary key: no key at all, the columns of the first unique
-- index, or those that the connector is told.
CREATE TABLE dbo.heap (a int NULL, b varchar(10) NULL)
CREATE TABLE dbo.indexed (a int NOT NULL, b int NOT NULL, c int NULL)
CREATE UNIQUE INDEX second ON dbo.indexed (c)
CREATE UNIQUE INDEX first ON dbo.indexed (b, a)
CREATE TABLE dbo.chosen (a int NOT NULL, b int NULL, c int NULL)
INSERT dbo.heap VALUES (1, 'x'), (1, 'x')
INSERT dbo.indexed VALUES (1, 2, 3)
INSERT dbo.chosen VALUES (1, 2, 3)
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'indexed', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'chosen', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
UPDATE dbo.heap SET b = 'y'
DELETE TOP (1) FROM dbo.heap
UPDATE dbo.indexed SET c = 4
UPDATE dbo.indexed SET a = 5
UPDATE dbo.chosen SET b = 6
DELETE dbo.chosen
--> capture
--> wait quiet
