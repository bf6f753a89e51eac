-- A table is changed and captured anew while the connector is down.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL)
INSERT dbo.a VALUES (1, 1), (2, 2)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> stop
ALTER TABLE dbo.a ADD w varchar(5) NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL, @capture_instance = N'a2'
GO
UPDATE dbo.a SET w = 'x'
--> capture
--> start
--> wait quiet
