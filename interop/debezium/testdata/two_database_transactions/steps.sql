-- Transactions of two databases, whose identifiers are LSNs and may be equal,
-- in one topic, and topics in which the databases' names are changed.
CREATE TABLE dbo.[t 1] (id int PRIMARY KEY, v varchar(5) NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N't 1', @role_name = NULL
INSERT dbo.[t 1] VALUES (1, 'a')
GO
USE [my-db.1]
CREATE TABLE dbo.[t 1] (id int PRIMARY KEY, v varchar(5) NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N't 1', @role_name = NULL
INSERT dbo.[t 1] VALUES (1, 'b')
--> capture
--> start
--> wait snapshot_done
--> wait quiet
UPDATE [my-db.1].dbo.[t 1] SET v = 'c'
UPDATE [Ünï ço].dbo.[t 1] SET v = 'c'
GO
INSERT [my-db.1].dbo.[t 1] VALUES (2, 'b'), (3, 'b')
INSERT [Ünï ço].dbo.[t 1] VALUES (2, 'a')
--> capture
--> wait quiet
--> restart
DELETE [my-db.1].dbo.[t 1]
DELETE [Ünï ço].dbo.[t 1]
--> capture
--> wait quiet
