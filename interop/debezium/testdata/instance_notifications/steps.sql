-- What the connector tells of capture instances that it has read to their end:
-- one that ends while it runs, one whose successor was made while it was down,
-- and one that is gone by then.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'first'
--> capture
--> start
--> wait snapshot_done
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> wait quiet
ALTER TABLE dbo.parts ADD more int NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'second'
GO
INSERT dbo.parts VALUES (3, 'c', 3)
--> capture
--> wait quiet
INSERT dbo.parts VALUES (4, 'd', 4)
--> capture
--> wait quiet
EXEC sys.sp_cdc_disable_table N'dbo', N'parts', N'first'
--> stop
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL, @capture_instance = N'third'
GO
INSERT dbo.parts VALUES (5, 'e', 5)
--> capture
--> start
--> wait quiet
INSERT dbo.parts VALUES (6, 'f', 6)
--> capture
--> wait quiet
