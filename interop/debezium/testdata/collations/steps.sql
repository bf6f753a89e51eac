-- Texts in columns of many code pages and in UTF-8, with characters outside the
-- basic plane, halves of them, and such as JSON has to escape.
CREATE TABLE dbo.words (id int NOT NULL, code varchar(20) COLLATE Japanese_CI_AS NOT NULL,
  latin char(8) COLLATE Latin1_General_CI_AS NULL, central varchar(30) COLLATE Polish_CI_AS NULL, cyrillic varchar(30) COLLATE Cyrillic_General_CI_AS NULL,
  greek varchar(30) COLLATE Greek_CI_AS NULL, turkish varchar(30) COLLATE Turkish_CI_AS NULL, hebrew varchar(30) COLLATE Hebrew_CI_AS NULL,
  arabic varchar(30) COLLATE Arabic_CI_AS NULL, baltic varchar(30) COLLATE Lithuanian_CI_AS NULL, vietnamese varchar(30) COLLATE Vietnamese_CI_AS NULL,
  thai varchar(30) COLLATE Thai_CI_AS NULL, japanese varchar(30) COLLATE Japanese_CI_AS NULL, chinese varchar(30) COLLATE Chinese_PRC_CI_AS NULL,
  traditional varchar(30) COLLATE Chinese_Taiwan_Stroke_CI_AS NULL, korean varchar(30) COLLATE Korean_Wansung_CI_AS NULL,
  u8 varchar(40) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL, u8c char(12) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL,
  n nvarchar(40) NULL, nm nvarchar(max) NULL, half nvarchar(10) NULL, plain varchar(40) NULL,
  CONSTRAINT pk PRIMARY KEY (id, code))
INSERT dbo.words VALUES (1, N'キー', N'Ça déjà', N'Zażółć gęślą', N'Съешь ещё', N'Ξεσκεπάζω', N'Iğdır şişe', N'שלום', N'مرحبا', N'Ąžuolas', N'Đường', N'สวัสดี', N'日本語ﾃｷｽﾄ', N'简体中文', N'繁體中文', N'한국어', N'naïve 日本 😀', N'é😀', N'𝄞 clef 👩‍👩‍👧', N'long 😀 ' + REPLICATE(N'ß', 20), N'a' + NCHAR(0xD83D) + N'b' + NCHAR(0xDE00), '"\/' + CHAR(9) + CHAR(10) + CHAR(13) + CHAR(8) + CHAR(12) + CHAR(1) + CHAR(31) + CHAR(127) + '<>&' + CHAR(39))
INSERT dbo.words (id, code, n, half) VALUES (2, 'ascii', NCHAR(0x2028) + NCHAR(0x2029) + NCHAR(0xFEFF) + NCHAR(0xFFFD) + NCHAR(0x00AD), NCHAR(0xDE00) + NCHAR(0xD83D))
EXEC sys.sp_cdc_enable_table N'dbo', N'words', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
INSERT dbo.words SELECT id + 10, code, latin, central, cyrillic, greek, turkish, hebrew, arabic, baltic, vietnamese, thai, japanese, chinese, traditional, korean, u8, u8c, n, nm, half, plain FROM dbo.words
UPDATE dbo.words SET japanese = N'ｱｲｳ', u8 = N'я', code = N'別' WHERE id = 11
DELETE dbo.words WHERE id = 11
--> capture
--> wait quiet
