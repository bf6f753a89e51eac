-- Keys of tables without a primary key, keys that properties choose, and keys
-- that change.
CREATE TABLE dbo.two_indexes (a int NOT NULL, b int NOT NULL, c int NULL)
CREATE UNIQUE INDEX later ON dbo.two_indexes (b)
CREATE UNIQUE INDEX earlier ON dbo.two_indexes (a, b)
CREATE TABLE dbo.[clustered] (a int NOT NULL, b int NOT NULL)
CREATE UNIQUE INDEX aa ON dbo.[clustered] (a)
CREATE UNIQUE CLUSTERED INDEX zz ON dbo.[clustered] (b)
CREATE TABLE dbo.chosen (id int PRIMARY KEY, region varchar(5) NOT NULL, code int NULL)
CREATE TABLE dbo.chosen_too (id int PRIMARY KEY, region varchar(5) NOT NULL)
CREATE TABLE dbo.composite (x int NOT NULL, y varchar(5) NOT NULL, z int NULL, PRIMARY KEY (y, x))
CREATE TABLE dbo.heap (v int NULL)
INSERT dbo.two_indexes VALUES (1, 1, 1)
INSERT dbo.[clustered] VALUES (1, 1)
INSERT dbo.chosen VALUES (1, 'eu', NULL), (2, 'us', 5)
INSERT dbo.chosen_too VALUES (1, 'eu')
INSERT dbo.composite VALUES (1, 'a', 1)
INSERT dbo.heap VALUES (1)
EXEC sys.sp_cdc_enable_table N'dbo', N'two_indexes', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'clustered', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'chosen', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'chosen_too', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'composite', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
UPDATE dbo.two_indexes SET a = 2
UPDATE dbo.[clustered] SET b = 2
UPDATE dbo.chosen SET region = 'asia' WHERE id = 1
UPDATE dbo.chosen SET code = 6 WHERE id = 2
UPDATE dbo.chosen SET id = id + 10
UPDATE dbo.composite SET z = 2
UPDATE dbo.composite SET x = 2, y = 'b'
UPDATE dbo.heap SET v = 2
DELETE dbo.chosen
DELETE dbo.chosen_too
DELETE dbo.two_indexes
DELETE dbo.composite
--> capture
--> wait quiet
