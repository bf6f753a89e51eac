-- Random transactions over tables with keys of all kinds; made by history_test.go.
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL, w varchar(20) NULL)
CREATE TABLE dbo.b (x int NOT NULL, y varchar(5) NOT NULL, v decimal(6, 2) NULL, t text NULL, m nvarchar(max) NULL, PRIMARY KEY (y, x))
CREATE TABLE dbo.c (id int NOT NULL, u int NOT NULL, v int NULL)
CREATE UNIQUE INDEX ux ON dbo.c (u)
CREATE TABLE dbo.d (v int NULL, w int NULL)
INSERT dbo.c VALUES (1, 1, 75), (2, 2, 14), (3, 3, 23)
INSERT dbo.c VALUES (4, 4, 19), (5, 5, 43)
INSERT dbo.b VALUES (6, 'y0', 33.5, NULL, N'ж'), (7, 'y1', 70.5, 't', N'ж')
INSERT dbo.d VALUES (99, NULL), (61, 1), (19, 1), (78, 1)
INSERT dbo.b VALUES (12, 'y2', 77.5, 't', N'ж'), (13, 'y1', 67.5, NULL, N'ж'), (14, 'y2', 62.5, 't', N'ж'), (15, 'y1', 61.5, NULL, N'ж')
INSERT dbo.b VALUES (16, 'y0', 3.5, 't', NULL), (17, 'y1', 28.5, 't', NULL)
INSERT dbo.b VALUES (18, 'y2', 41.5, 't', N'ж'), (19, 'y1', 58.5, 't', N'ж')
INSERT dbo.c VALUES (20, 20, 78), (21, 21, 68), (22, 22, 73)
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'c', @role_name = NULL
EXEC sys.sp_cdc_enable_table N'dbo', N'd', @role_name = NULL
--> capture
--> start
--> wait snapshot_done
--> wait quiet
BEGIN TRAN
UPDATE dbo.a SET w = w WHERE ABS(id) % 4 = 0
INSERT dbo.c VALUES (23, 23, 41), (24, 24, 94)
INSERT dbo.a VALUES (25, 0, 'w0'), (26, 82, NULL), (27, 21, NULL), (28, 47, NULL)
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 2 = 1
INSERT dbo.b VALUES (29, 'y2', 98.5, 't', NULL)
COMMIT
GO
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 1 = 0
GO
UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))
GO
BEGIN TRAN
INSERT dbo.b VALUES (30, 'y2', 50.5, NULL, N'ж'), (31, 'y2', 26.5, 't', N'ж'), (32, 'y0', 84.5, 't', N'ж')
INSERT dbo.a VALUES (33, 33, NULL)
UPDATE dbo.d SET w = v WHERE ABS(v) % 1 = 0
INSERT dbo.c VALUES (34, 34, 37), (35, 35, 41)
INSERT dbo.b VALUES (36, 'y1', 64.5, 't', NULL), (37, 'y2', 68.5, 't', N'ж')
COMMIT
GO
BEGIN TRAN
INSERT dbo.a VALUES (38, 32, NULL), (39, 72, 'w72'), (40, 40, 'w40')
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 1
INSERT dbo.b VALUES (41, 'y0', 24.5, 't', N'ж')
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 4 = 1
COMMIT
GO
BEGIN TRAN
UPDATE dbo.d SET w = v WHERE ABS(v) % 1 = 0
INSERT dbo.a VALUES (42, 12, NULL), (43, 73, NULL), (44, 51, 'w51'), (45, 99, 'w99')
INSERT dbo.c VALUES (46, 46, 80)
SAVE TRAN here
DELETE dbo.d WHERE ABS(v) % 4 = 1
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 1 = 0
ROLLBACK TRAN here
INSERT dbo.b VALUES (47, 'y1', 7.5, 't', N'ж'), (48, 'y1', 61.5, 't', N'ж'), (49, 'y1', 25.5, 't', N'ж'), (50, 'y0', 21.5, 't', N'ж')
COMMIT
GO
--> clock +2159ms
--> capture
--> wait quiet
BEGIN TRAN
INSERT dbo.d VALUES (81, 1)
COMMIT
GO
BEGIN TRAN
INSERT dbo.d VALUES (44, 1)
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 1 = 0
SAVE TRAN here
DELETE dbo.d WHERE ABS(v) % 4 = 0
UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))
ROLLBACK TRAN here
INSERT dbo.d VALUES (41, 1), (55, 1), (55, 1)
COMMIT
GO
BEGIN TRAN
INSERT dbo.c VALUES (56, 56, 74), (57, 57, 46), (58, 58, 58)
INSERT dbo.d VALUES (13, 1), (53, 1), (86, NULL)
UPDATE dbo.a SET id = CASE WHEN id % 2 = 0 THEN id + 1 ELSE id - 1 END WHERE id IN (SELECT id FROM dbo.a WHERE id > 0 AND (id % 2 = 0 AND id + 1 IN (SELECT id FROM dbo.a) OR id % 2 = 1 AND id - 1 IN (SELECT id FROM dbo.a)))
UPDATE dbo.a SET id = CASE WHEN id % 2 = 0 THEN id + 1 ELSE id - 1 END WHERE id IN (SELECT id FROM dbo.a WHERE id > 0 AND (id % 2 = 0 AND id + 1 IN (SELECT id FROM dbo.a) OR id % 2 = 1 AND id - 1 IN (SELECT id FROM dbo.a)))
COMMIT
GO
BEGIN TRAN
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 1 = 0
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 4 = 1
INSERT dbo.c VALUES (62, 62, 67), (63, 63, 88), (64, 64, 62)
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 1 = 1
COMMIT
GO
BEGIN TRAN
UPDATE dbo.a SET id = CASE WHEN id % 2 = 0 THEN id + 1 ELSE id - 1 END WHERE id IN (SELECT id FROM dbo.a WHERE id > 0 AND (id % 2 = 0 AND id + 1 IN (SELECT id FROM dbo.a) OR id % 2 = 1 AND id - 1 IN (SELECT id FROM dbo.a)))
INSERT dbo.b VALUES (65, 'y1', 34.5, NULL, N'ж'), (66, 'y0', 81.5, 't', NULL)
INSERT dbo.b VALUES (67, 'y2', 23.5, 't', NULL), (68, 'y0', 84.5, 't', NULL), (69, 'y2', 77.5, NULL, N'ж')
COMMIT
GO
--> clock +2732ms
--> capture
--> wait quiet
BEGIN TRAN
INSERT dbo.d VALUES (20, 1), (53, 1)
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 2 = 0
UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))
COMMIT
GO
--> capture
--> restart
BEGIN TRAN
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 3 = 1
UPDATE dbo.a SET w = w WHERE ABS(id) % 2 = 0
INSERT dbo.a VALUES (72, 30, 'w30'), (73, 64, NULL)
COMMIT
GO
BEGIN TRAN
UPDATE dbo.c SET u = -u WHERE ABS(id) % 2 = 1
DELETE dbo.d WHERE ABS(v) % 2 = 1
COMMIT
GO
BEGIN TRAN
DELETE dbo.d WHERE ABS(v) % 3 = 1
INSERT dbo.a VALUES (74, 97, 'w97')
COMMIT
GO
BEGIN TRAN
INSERT dbo.a VALUES (75, 72, 'w72'), (76, 49, NULL), (77, 16, 'w16'), (78, 76, 'w76')
INSERT dbo.a VALUES (79, 20, NULL), (80, 89, 'w89'), (81, 63, 'w63'), (82, 47, NULL)
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 4 = 1
INSERT dbo.d VALUES (65, NULL)
INSERT dbo.a VALUES (84, 97, NULL), (85, 47, 'w47'), (86, 93, NULL), (87, 46, 'w46')
COMMIT
GO
INSERT dbo.d VALUES (63, NULL), (98, 1), (80, NULL)
GO
BEGIN TRAN
UPDATE dbo.a SET v = v + 1, w = 'changed' WHERE ABS(id) % 3 = 1
INSERT dbo.c VALUES (91, 91, 38)
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 0
COMMIT
GO
BEGIN TRAN
INSERT dbo.c VALUES (92, 92, 15), (93, 93, 86), (94, 94, 52), (95, 95, 77)
INSERT dbo.d VALUES (7, NULL), (70, NULL)
DELETE dbo.b WHERE ABS(x) % 4 = 1
COMMIT
GO
--> clock +661ms
--> capture
--> wait quiet
BEGIN TRAN
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 2 = 1
INSERT dbo.d VALUES (21, NULL), (33, 1), (49, 1)
INSERT dbo.d VALUES (92, 1), (95, 1)
DELETE dbo.d WHERE ABS(v) % 1 = 1
SAVE TRAN here
INSERT dbo.a VALUES (103, 50, 'w50')
INSERT dbo.a VALUES (104, 32, NULL), (105, 52, NULL)
ROLLBACK TRAN here
INSERT dbo.d VALUES (68, 1), (12, 1)
COMMIT
GO
BEGIN TRAN
UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 1
INSERT dbo.b VALUES (108, 'y2', 92.5, 't', NULL), (109, 'y2', 80.5, 't', N'ж'), (110, 'y0', 51.5, NULL, NULL)
COMMIT
GO
--> clock +3214ms
--> capture
--> wait quiet
UPDATE dbo.a SET id = -id WHERE ABS(id) % 3 = 1
GO
--> clock +16ms
--> capture
--> wait quiet
BEGIN TRAN
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 3 = 1
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 4 = 1
COMMIT
GO
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 3 = 1
GO
BEGIN TRAN
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 2 = 0
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 4 = 0
COMMIT
GO
BEGIN TRAN
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 0
INSERT dbo.c VALUES (111, 111, 74), (112, 112, 85), (113, 113, 0)
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 0
INSERT dbo.c VALUES (114, 114, 8), (115, 115, 90)
ROLLBACK
GO
UPDATE dbo.c SET u = -u WHERE ABS(id) % 3 = 1
GO
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 1 = 1
GO
UPDATE dbo.b SET y = y + 'z' WHERE LEN(y) < 5 AND ABS(x) % 1 = 0
GO
--> capture
--> restart
BEGIN TRAN
INSERT dbo.a VALUES (116, 63, NULL), (117, 81, 'w81'), (118, 42, 'w42')
UPDATE dbo.a SET id = -id WHERE ABS(id) % 1 = 1
COMMIT
GO
--> clock +250ms
--> capture
--> wait quiet
BEGIN TRAN
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 1
INSERT dbo.b VALUES (119, 'y1', 55.5, 't', N'ж')
DELETE TOP (2) FROM dbo.c WHERE ABS(u) % 4 = 0
SAVE TRAN here
INSERT dbo.d VALUES (63, 1), (60, 1), (17, 1), (56, 1)
UPDATE dbo.a SET w = w WHERE ABS(id) % 2 = 1
ROLLBACK TRAN here
INSERT dbo.d VALUES (70, 1), (49, 1)
ROLLBACK
GO
BEGIN TRAN
INSERT dbo.a VALUES (126, 89, 'w89')
UPDATE dbo.b SET y = y + 'z' WHERE LEN(y) < 5 AND ABS(x) % 4 = 0
SAVE TRAN here
INSERT dbo.b VALUES (127, 'y0', 39.5, NULL, NULL), (128, 'y0', 9.5, NULL, N'ж'), (129, 'y2', 77.5, 't', N'ж'), (130, 'y1', 73.5, 't', N'ж')
INSERT dbo.a VALUES (131, 4, 'w4'), (132, 82, 'w82'), (133, 6, 'w6')
ROLLBACK TRAN here
UPDATE dbo.a SET id = -id WHERE ABS(id) % 3 = 0
COMMIT
GO
UPDATE dbo.c SET u = -u WHERE ABS(id) % 4 = 1
GO
UPDATE dbo.c SET u = -u WHERE ABS(id) % 4 = 0
GO
BEGIN TRAN
INSERT dbo.a VALUES (134, 81, 'w81'), (135, 79, 'w79')
COMMIT
GO
BEGIN TRAN
UPDATE dbo.b SET t = 'long', m = NULL WHERE ABS(x) % 1 = 1
UPDATE dbo.a SET w = w WHERE ABS(id) % 4 = 1
UPDATE dbo.a SET v = v + 1, w = 'changed' WHERE ABS(id) % 4 = 1
UPDATE dbo.c SET u = -u WHERE ABS(id) % 2 = 1
UPDATE dbo.c SET u = -u WHERE ABS(id) % 1 = 1
COMMIT
GO
BEGIN TRAN
INSERT dbo.c VALUES (136, 136, 59), (137, 137, 17), (138, 138, 6), (139, 139, 96)
INSERT dbo.d VALUES (97, 1)
INSERT dbo.a VALUES (141, 43, NULL), (142, 10, NULL)
INSERT dbo.b VALUES (143, 'y2', 41.5, 't', NULL), (144, 'y0', 18.5, NULL, N'ж'), (145, 'y0', 81.5, 't', NULL), (146, 'y2', 53.5, 't', N'ж')
UPDATE dbo.d SET w = v WHERE ABS(v) % 4 = 1
COMMIT
GO
BEGIN TRAN
UPDATE dbo.a SET w = w WHERE ABS(id) % 2 = 1
UPDATE dbo.a SET w = w WHERE ABS(id) % 3 = 1
UPDATE dbo.b SET v = v + 0.25 WHERE ABS(x) % 1 = 0
INSERT dbo.d VALUES (68, 1)
INSERT dbo.c VALUES (148, 148, 82)
COMMIT
GO
BEGIN TRAN
INSERT dbo.c VALUES (149, 149, 19), (150, 150, 28), (151, 151, 25), (152, 152, 11)
INSERT dbo.c VALUES (153, 153, 81)
UPDATE dbo.a SET v = v + 1, w = 'changed' WHERE ABS(id) % 2 = 0
COMMIT
GO
BEGIN TRAN
INSERT dbo.b VALUES (154, 'y0', 12.5, 't', NULL), (155, 'y1', 61.5, 't', NULL), (156, 'y0', 36.5, 't', NULL), (157, 'y2', 83.5, NULL, N'ж')
UPDATE dbo.a SET id = CASE WHEN id % 2 = 0 THEN id + 1 ELSE id - 1 END WHERE id IN (SELECT id FROM dbo.a WHERE id > 0 AND (id % 2 = 0 AND id + 1 IN (SELECT id FROM dbo.a) OR id % 2 = 1 AND id - 1 IN (SELECT id FROM dbo.a)))
UPDATE dbo.a SET v = v + 1, w = 'changed' WHERE ABS(id) % 1 = 1
UPDATE dbo.c SET v = NULL WHERE ABS(id) % 1 = 1
SAVE TRAN here
INSERT dbo.b VALUES (158, 'y1', 58.5, NULL, NULL)
INSERT dbo.a VALUES (159, 11, NULL), (160, 45, 'w45'), (161, 99, 'w99')
ROLLBACK TRAN here
UPDATE dbo.c SET u = (SELECT MAX(u) + MIN(u) FROM dbo.c) - u WHERE u IN ((SELECT MAX(u) FROM dbo.c), (SELECT MIN(u) FROM dbo.c))
COMMIT
GO
--> capture
--> wait quiet
