-- Unique indexes that do not identify every row, and keys with columns that are
-- not captured.
CREATE TABLE dbo.nullable (a int NULL, b int NOT NULL)
CREATE UNIQUE INDEX a_first ON dbo.nullable (a)
CREATE UNIQUE INDEX b_second ON dbo.nullable (b)
CREATE TABLE dbo.filtered (a int NOT NULL, v int NULL)
CREATE UNIQUE INDEX ux ON dbo.filtered (a) WHERE v > 0
CREATE TABLE dbo.uncaptured_key (id int NOT NULL, part int NOT NULL, v int NOT NULL)
CREATE UNIQUE INDEX first ON dbo.uncaptured_key (id, part)
CREATE UNIQUE INDEX second ON dbo.uncaptured_key (id, v)
CREATE TABLE dbo.computed_key (id int NOT NULL, twice AS id * 2, v int NULL)
CREATE UNIQUE INDEX first ON dbo.computed_key (twice)
CREATE UNIQUE INDEX second ON dbo.computed_key (id) INCLUDE (v)
INSERT dbo.nullable VALUES (1, 1)
INSERT dbo.computed_key (id, v) VALUES (1, 1)
INSERT dbo.filtered VALUES (1, 0)
INSERT dbo.uncaptured_key VALUES (1, 1, 1)
EXEC sys.sp_cdc_enable_table N'dbo', N'nullable', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'filtered', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'uncaptured_key', @role_name = NULL, @captured_column_list = N'id, v', @supports_net_changes = 0
EXEC sys.sp_cdc_enable_table N'dbo', N'computed_key', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
UPDATE dbo.nullable SET b = 2
UPDATE dbo.filtered SET v = 0
UPDATE dbo.computed_key SET v = 2
UPDATE dbo.uncaptured_key SET v = 2
--> capture
--> wait quiet
