-- Patterns as Java reads them: looking ahead and behind, quoted texts, classes,
-- groups, possessive quantifiers, flags and commas.
CREATE SCHEMA sales
GO
CREATE TABLE sales.orders (id int PRIMARY KEY, code varchar(20) NULL, codeword varchar(20) NULL, [a,b] varchar(20) NULL, ünder varchar(20) NULL)
CREATE TABLE sales.orders_old (id int PRIMARY KEY, code varchar(20) NULL)
CREATE TABLE sales.[a+b] (id int PRIMARY KEY, code varchar(20) NULL)
CREATE TABLE dbo.orders2 (id int PRIMARY KEY, code varchar(20) NULL)
INSERT sales.orders VALUES (1, 'code', 'word', 'comma', 'umlaut')
INSERT sales.orders_old VALUES (1, 'old')
INSERT sales.[a+b] VALUES (1, 'plus')
INSERT dbo.orders2 VALUES (1, 'two')
EXEC sys.sp_cdc_enable_table N'sales', N'orders', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'sales', N'orders_old', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'sales', N'a+b', @role_name = NULL, @capture_instance = N'ab'
EXEC sys.sp_cdc_enable_table N'dbo', N'orders2', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT sales.orders VALUES (2, 'code', 'word', 'comma', 'umlaut')
INSERT sales.orders_old VALUES (2, 'old')
INSERT sales.[a+b] VALUES (2, 'plus')
INSERT dbo.orders2 VALUES (2, 'two')
--> capture
--> wait quiet
