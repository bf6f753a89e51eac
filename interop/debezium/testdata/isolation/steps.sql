-- The initial snapshot of several tables and what is streamed behind it, in each
-- isolation mode: a table that has a composite key, one without rows, one that
-- is not captured, and changes made after the snapshot and while the connector
-- does not run.
CREATE TABLE dbo.customers (id int IDENTITY(1001, 1) PRIMARY KEY, name nvarchar(50) NOT NULL, email varchar(80) NULL)
CREATE TABLE dbo.orders (region char(2) NOT NULL, number bigint NOT NULL, customer int NOT NULL, total decimal(9, 2) NOT NULL DEFAULT 0, PRIMARY KEY (region, number))
CREATE TABLE dbo.empty (id int PRIMARY KEY)
CREATE TABLE dbo.uncaptured (id int PRIMARY KEY, note varchar(20) NULL)
INSERT dbo.customers (name, email) VALUES (N'Ada', 'ada@example.org'), (N'Bob', NULL), (N'Zoë 😀', '')
INSERT dbo.orders VALUES ('eu', 2, 1001, 12.50), ('eu', 1, 1002, -0.01), ('us', 1, 1001, 9999999.99)
INSERT dbo.uncaptured VALUES (1, 'only in snapshots')
EXEC sys.sp_cdc_enable_table N'dbo', N'customers', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'empty', @role_name = NULL
INSERT dbo.customers (name) VALUES (N'captured before the snapshot')
--> capture
--> start
--> wait snapshot_done
--> wait quiet
BEGIN TRAN
INSERT dbo.customers (name) VALUES (N'Cem')
UPDATE dbo.orders SET total = total + 1 WHERE region = 'eu'
DELETE dbo.customers WHERE id = 1002
COMMIT
INSERT dbo.empty VALUES (7)
INSERT dbo.uncaptured VALUES (2, 'never seen')
--> capture
--> wait quiet
--> stop
DELETE dbo.orders WHERE region = 'us'
UPDATE dbo.customers SET email = NULL
--> capture
--> start
--> wait quiet
