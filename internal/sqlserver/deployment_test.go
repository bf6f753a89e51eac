package sqlserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCDCDisabled_RemedyOfThePlace(t *testing.T) {
	for want, facts := range map[string]Facts{
		"run EXEC sys.sp_cdc_enable_db in it":                                 {EngineEdition: 3},
		"as a member of db_owner; it needs vCores, or S3":                     {EngineEdition: editionAzureDatabase},
		"EXEC msdb.dbo.rds_cdc_enable_db N'it''s' as the master user":         {EngineEdition: 2, RDS: true},
		`change data capture is off in database "it's"; run EXEC sys.sp_cdc_`: {EngineEdition: editionManagedInstance},
	} {
		facts.Database = "it's"
		err := CDCDisabled(facts)
		assert.ErrorContains(t, err, want)
		assert.Equal(t, ClassFatal, Classify(err))
	}
}
