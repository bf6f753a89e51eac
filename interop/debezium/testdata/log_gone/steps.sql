-- What the stored offset points at has been cleaned from the change tables: the
-- connector refuses to go on, and with another snapshot mode reads the rows anew.
CREATE TABLE dbo.parts (id int PRIMARY KEY, code varchar(10) NOT NULL)
INSERT dbo.parts VALUES (1, 'a')
EXEC sys.sp_cdc_enable_table N'dbo', N'parts', @role_name = NULL
INSERT dbo.parts VALUES (2, 'b')
--> capture
--> start
--> wait snapshot_done
--> wait quiet
--> stop
--> clock +1s
INSERT dbo.parts VALUES (3, 'c')
--> capture
--> clock +1s
INSERT dbo.parts VALUES (4, 'd')
--> capture
DECLARE @lsn binary(10) = sys.fn_cdc_get_max_lsn()
EXEC sys.sp_cdc_cleanup_change_table N'dbo_parts', @lsn
--> start
--> wait error no longer available on the server
--> start snapshot.mode=when_needed
--> wait snapshot_done
INSERT dbo.parts VALUES (5, 'e')
--> capture
--> wait quiet
