-- Which tables are captured, by their names and those of their schemas.
CREATE SCHEMA sales
GO
CREATE SCHEMA hr
GO
CREATE TABLE sales.orders (id int PRIMARY KEY)
CREATE TABLE sales.order_lines (id int PRIMARY KEY)
CREATE TABLE hr.people (id int PRIMARY KEY)
CREATE TABLE dbo.[systranschemas_not] (id int PRIMARY KEY)
INSERT sales.orders VALUES (1)
INSERT sales.order_lines VALUES (1)
INSERT hr.people VALUES (1)
INSERT dbo.systranschemas_not VALUES (1)
EXEC sys.sp_cdc_enable_table N'sales', N'orders', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'sales', N'order_lines', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'hr', N'people', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'systranschemas_not', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT hr.people VALUES (2)
INSERT sales.order_lines VALUES (2)
BEGIN TRAN
INSERT sales.orders VALUES (2)
DELETE sales.order_lines
INSERT dbo.systranschemas_not VALUES (2)
COMMIT
--> capture
--> wait quiet
