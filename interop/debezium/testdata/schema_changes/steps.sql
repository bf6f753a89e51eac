-- What is told of tables before the snapshot: of those that are captured, those
-- that are left out, and those without a capture instance.
CREATE TABLE dbo.orders (id int IDENTITY PRIMARY KEY, code varchar(10) NOT NULL DEFAULT 'x', total decimal(9, 2) NULL DEFAULT 1.5, twice AS id * 2)
CREATE TABLE dbo.left_out (id int PRIMARY KEY, at datetime2(3) NULL)
CREATE TABLE dbo.uncaptured (id int NOT NULL, name nvarchar(20) NOT NULL, picture varbinary(max) NULL, PRIMARY KEY (name, id))
CREATE TABLE dbo.keyless (v int NULL, t time NULL, w nchar(4) NULL)
CREATE TABLE dbo.indexed (a int NOT NULL, b bigint NOT NULL)
CREATE UNIQUE INDEX ux ON dbo.indexed (b)
CREATE TABLE dbo.part (id int PRIMARY KEY, secret varchar(20) NULL, n int NOT NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'left_out', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'keyless', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'indexed', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'part', @role_name = NULL, @captured_column_list = N'id, n'
INSERT dbo.orders (code) VALUES ('a')
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT dbo.indexed VALUES (1, 1)
--> capture
--> wait quiet
