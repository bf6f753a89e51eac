-- What the connector tells of its snapshots, of one that is paused, goes on and
-- is stopped by signals, and of a capture instance that it has read to its end.
CREATE TABLE dbo.signals (id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048) NULL)
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')
EXEC sys.sp_cdc_enable_table N'dbo', N'signals', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> signal execute-snapshot {"data-collections":["shop.dbo.parts"]}
--> signal pause-snapshot {"type":"INCREMENTAL"}
--> capture
--> wait quiet capturing
--> signal resume-snapshot {"type":"INCREMENTAL"}
--> capture
--> wait quiet
--> signal stop-snapshot {"type":"INCREMENTAL","data-collections":["shop.dbo.parts"]}
--> wait quiet capturing
ALTER TABLE dbo.parts ADD more int NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'second'
GO
INSERT dbo.parts VALUES (6, 'f', 6)
--> capture
--> wait quiet
INSERT dbo.parts VALUES (7, 'g', 7)
--> capture
--> wait quiet
