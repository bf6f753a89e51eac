-- A table with a name that SQL Server gives to a table of its own.
CREATE SCHEMA hr
GO
CREATE TABLE hr.systranschemas (id int PRIMARY KEY)
CREATE TABLE hr.people (id int PRIMARY KEY)
INSERT hr.systranschemas VALUES (1)
INSERT hr.people VALUES (1)
EXEC sys.sp_cdc_enable_table N'hr', N'systranschemas', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'hr', N'people', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT hr.systranschemas VALUES (2)
INSERT hr.people VALUES (2)
--> capture
--> wait quiet
