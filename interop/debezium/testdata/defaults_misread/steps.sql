-- Defaults that Debezium leaves out or misreads.
CREATE TABLE dbo.defaults (id int NOT NULL PRIMARY KEY, u uniqueidentifier NOT NULL DEFAULT '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  m money NOT NULL DEFAULT $1.5, name nvarchar(20) NULL DEFAULT N'O''Brien', shown varchar(20) NULL DEFAULT 'a(b)c')
INSERT dbo.defaults (id) VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N'defaults', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.defaults VALUES (2, '6f9619ff-8b86-d011-b42d-00c04fc964f0', 2, NULL, NULL)
--> capture
--> wait quiet
