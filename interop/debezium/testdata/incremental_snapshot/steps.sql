-- Tables read in chunks between changes, asked for by a signal: whole, one with
-- a composite key, then in part by a condition and in another order. A row that
-- is changed while its chunk is read comes as change alone.
CREATE TABLE dbo.signals (id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048) NULL)
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.pairs (a varchar(5) NOT NULL, b datetime2(3) NOT NULL, v int NULL, PRIMARY KEY (a, b))
INSERT dbo.parts VALUES (1, 'e'), (2, 'd'), (3, 'c'), (4, 'b'), (5, 'a')
INSERT dbo.pairs VALUES ('x', '2024-01-01', 1), ('x', '2024-01-02', 2), ('y', '2024-01-01', 3), ('Y2', '0001-01-01', NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'signals', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'pairs', @role_name = NULL
--> capture
--> start
--> wait streaming
--> begin UPDATE dbo.parts SET code = 'z' WHERE id = 2
--> signal execute-snapshot {"type":"INCREMENTAL","data-collections":["shop.dbo.parts","shop.dbo.pairs"]}
INSERT dbo.parts VALUES (6, 'f')
--> capture
--> wait until EXISTS (SELECT * FROM dbo.signals WHERE type = 'snapshot-window-open')
--> commit
--> wait quiet capturing
--> signal execute-snapshot {"data-collections":["shop.dbo.parts"],"additional-conditions":[{"data-collection":"shop.dbo.parts","filter":"id > 2"}],"surrogate-key":"code"}
--> wait quiet capturing
