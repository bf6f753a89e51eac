-- A snapshot on demand while streaming pauses: of one table whole, of another
-- by a statement of its own; changes captured meanwhile follow it.
CREATE TABLE dbo.signals (id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048) NULL)
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.pairs (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b))
INSERT dbo.parts VALUES (1, 'a'), (2, 'b')
INSERT dbo.pairs VALUES (1, 1), (1, 2), (2, 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'signals', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'pairs', @role_name = NULL
--> capture
--> start
--> wait streaming
INSERT dbo.parts VALUES (3, 'c')
--> capture
--> wait quiet
--> signal execute-snapshot {"type":"blocking","data-collections":["shop.dbo.parts","shop.dbo.pairs"],"additional-conditions":[{"data-collection":"shop.dbo.pairs","filter":"SELECT * FROM dbo.pairs WHERE a = 1"}]}
--> capture
--> wait 8 records
UPDATE dbo.parts SET code = 'cc' WHERE id = 3
--> capture
--> wait quiet
