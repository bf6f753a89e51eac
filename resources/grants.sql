-- A login that may do what the input does, and nothing else. Replace inventory
-- and the password, and grant on each schema that has captured tables.
CREATE LOGIN cdc_reader WITH PASSWORD = 'choose a password';
GO
USE inventory;
GO
CREATE USER cdc_reader FOR LOGIN cdc_reader;
-- The rows for the snapshot.
GRANT SELECT ON SCHEMA::dbo TO cdc_reader;
-- The change tables and what change data capture knows of them.
GRANT SELECT ON SCHEMA::cdc TO cdc_reader;
GO
