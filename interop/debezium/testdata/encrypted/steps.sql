-- The whole connection encrypted, as Microsoft's driver does unless told not to.
CREATE TABLE dbo.t (id int PRIMARY KEY, text varchar(max) NULL)
INSERT dbo.t VALUES (1, 'short')
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.t VALUES (2, 'long ' + REPLICATE('x', 40))
--> capture
--> wait quiet
