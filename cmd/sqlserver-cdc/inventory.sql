CREATE DATABASE inventory;
GO
ALTER DATABASE inventory SET ALLOW_SNAPSHOT_ISOLATION ON;
GO
USE inventory;
GO
CREATE TABLE dbo.customers (
  id         int IDENTITY(1,1) NOT NULL PRIMARY KEY,
  first_name nvarchar(50)  NOT NULL,
  last_name  nvarchar(50)  NOT NULL,
  email      nvarchar(100) NOT NULL,
  since      datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME()
);
CREATE TABLE dbo.products (
  id    int IDENTITY(1,1) NOT NULL PRIMARY KEY,
  name  nvarchar(100)  NOT NULL,
  price decimal(10, 2) NOT NULL,
  stock int            NOT NULL DEFAULT 0
);
CREATE TABLE dbo.orders (
  id          int IDENTITY(1,1) NOT NULL PRIMARY KEY,
  customer_id int NOT NULL,
  product_id  int NOT NULL,
  quantity    int NOT NULL,
  ordered_at  datetime2(3) NOT NULL DEFAULT SYSUTCDATETIME()
);
GO
INSERT INTO dbo.customers (first_name, last_name, email) VALUES
  (N'Sally', N'Thomas', N'sally.thomas@example.com'),
  (N'George', N'Bailey', N'george.bailey@example.com'),
  (N'Edward', N'Walker', N'edward.walker@example.com'),
  (N'Anne', N'Kretchmar', N'anne.kretchmar@example.com');
INSERT INTO dbo.products (name, price, stock) VALUES
  (N'scooter', 89.90, 120),
  (N'car battery', 74.50, 80),
  (N'drill bits', 12.99, 400),
  (N'hammer', 18.75, 150),
  (N'spare tyre', 54.00, 60);
INSERT INTO dbo.orders (customer_id, product_id, quantity) VALUES (1, 2, 1), (2, 3, 2), (3, 5, 4);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'customers', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'products', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
GO
EXEC sys.sp_cdc_change_job @job_type = N'capture', @pollinginterval = 1;
EXEC sys.sp_cdc_stop_job @job_type = N'capture';
EXEC sys.sp_cdc_start_job @job_type = N'capture';
GO
