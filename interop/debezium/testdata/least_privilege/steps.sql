-- A login that may read the captured tables and the cdc schema and is in the
-- gating role, and nothing more.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
CREATE TABLE dbo.secret (id int PRIMARY KEY)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = N'cdc_readers'
GO
CREATE LOGIN connector WITH PASSWORD = 'Connector.1'
GO
CREATE USER connector FOR LOGIN connector
ALTER ROLE cdc_readers ADD MEMBER connector
GRANT SELECT ON dbo.parts TO connector
GRANT SELECT ON SCHEMA::cdc TO connector
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> start snapshot.isolation.mode=read_committed
--> wait snapshot_done
UPDATE dbo.parts SET code = 'bb' WHERE id = 2
--> capture
--> wait quiet
