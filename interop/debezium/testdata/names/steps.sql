-- Names that topics, schemas and fields have to be made fit.
CREATE SCHEMA [my schema]
GO
CREATE TABLE [my schema].[ord-er$ ä😀] ([1st] int NOT NULL, [two words] varchar(10) NULL, [dot.ted] int NULL, [ünï😀] nvarchar(10) NULL, under_score int NULL, [da-sh] int NULL, CONSTRAINT pk PRIMARY KEY ([1st]))
CREATE TABLE dbo.Plain ([Id] int NOT NULL PRIMARY KEY, [a'b"c] int NULL)
INSERT [my schema].[ord-er$ ä😀] VALUES (1, 'x', 2, N'ü', 3, 4)
INSERT dbo.Plain VALUES (1, 1)
EXEC sys.sp_cdc_enable_table N'my schema', N'ord-er$ ä😀', @role_name = NULL, @capture_instance = N'odd'
EXEC sys.sp_cdc_enable_table N'dbo', N'Plain', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
INSERT [my schema].[ord-er$ ä😀] VALUES (2, 'x', 2, N'ü', 3, 4)
UPDATE [my schema].[ord-er$ ä😀] SET [two words] = 'y', [1st] = 3 WHERE [1st] = 2
DELETE dbo.Plain
--> capture
--> wait quiet
