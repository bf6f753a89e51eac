package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each key's changes fold into one row or none, by the three options (MS docs:
// cdc.fn_cdc_get_net_changes_<capture_instance>).
func TestNetChanges(t *testing.T) {
	for name, test := range map[string]struct{ before, during, all, mask, merge string }{
		"insert":                  {"", "INSERT t VALUES (1, 1, 1)", "2 1 1 NULL", "2 1 1 NULL", "5 1 1 NULL"},
		"insert, update":          {"", "INSERT t VALUES (1, 1, 1); UPDATE t SET a = 2", "2 2 1 NULL", "2 2 1 NULL", "5 2 1 NULL"},
		"insert, delete":          {"", "INSERT t VALUES (1, 1, 1); DELETE t", "", "", ""},
		"insert, delete, insert":  {"", "INSERT t VALUES (1, 1, 1); DELETE t; INSERT t VALUES (1, 7, 7)", "2 7 7 NULL", "2 7 7 NULL", "5 7 7 NULL"},
		"update":                  {"INSERT t VALUES (1, 1, 1)", "UPDATE t SET a = 2", "4 2 1 NULL", "4 2 1 0x02", "5 2 1 NULL"},
		"two updates":             {"INSERT t VALUES (1, 1, 1)", "UPDATE t SET a = 2; UPDATE t SET b = 2", "4 2 2 NULL", "4 2 2 0x06", "5 2 2 NULL"},
		"update, delete":          {"INSERT t VALUES (1, 1, 1)", "UPDATE t SET a = 2; DELETE t", "1 2 1 NULL", "1 2 1 NULL", "1 2 1 NULL"},
		"delete":                  {"INSERT t VALUES (1, 1, 1)", "DELETE t", "1 1 1 NULL", "1 1 1 NULL", "1 1 1 NULL"},
		"delete, insert":          {"INSERT t VALUES (1, 1, 1)", "DELETE t; INSERT t VALUES (1, 3, 3)", "4 3 3 NULL", "4 3 3 0x07", "5 3 3 NULL"},
		"delete, insert, delete":  {"INSERT t VALUES (1, 1, 1)", "DELETE t; INSERT t VALUES (1, 3, 3); DELETE t", "1 3 3 NULL", "1 3 3 NULL", "1 3 3 NULL"},
		"key moved away and back": {"INSERT t VALUES (1, 1, 1)", "UPDATE t SET id = 2; UPDATE t SET id = 1", "4 1 1 NULL", "4 1 1 0x07", "5 1 1 NULL"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.exec("EXEC sp_configure 'clr enabled', 1; RECONFIGURE")
			s.exec("CREATE TABLE t (id int PRIMARY KEY, a int, b int)")
			if test.before != "" {
				s.exec(test.before)
			}
			s.track("t")
			s.exec(test.during)
			s.capture()
			for option, want := range map[string]string{"all": test.all, "all with mask": test.mask, "all with merge": test.merge} {
				rows := s.query(`DECLARE @a binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @b binary(10) = sys.fn_cdc_get_max_lsn();
SELECT [__$operation], a, b, [__$update_mask] FROM cdc.fn_cdc_get_net_changes_dbo_t(@a, @b, N'` + option + "')")
				if want == "" {
					assert.Empty(t, rows, option)
					continue
				}
				assert.Equal(t, []string{want}, rows, option)
			}
		})
	}
}

// With the CLR off, as a server is at first, the function made then has no masks.
func TestNetChanges_NoCLR(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a int); INSERT t VALUES (1, 1)")
	s.track("t")
	s.exec("UPDATE t SET a = 2")
	s.capture()
	assert.Equal(t, "4 NULL", s.value(`DECLARE @a binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @b binary(10) = sys.fn_cdc_get_max_lsn();
SELECT [__$operation], [__$update_mask] FROM cdc.fn_cdc_get_net_changes_dbo_t(@a, @b, N'all with mask')`))
}
