package sqlserver

import "fmt"

// Engine editions of services, whose version number says nothing.
// Source: MS docs, SERVERPROPERTY, EngineEdition.
const (
	editionAzureDatabase   = 5
	editionManagedInstance = 8
)

// CDCDisabled is the problem of a database without change data capture, with
// the remedy of the place it runs in.
//
// Sources: MS docs, sys.sp_cdc_enable_db, "CDC with Azure SQL Database"; AWS
// docs, "Using change data capture for SQL Server on Amazon RDS".
func CDCDisabled(f Facts) error {
	return cdcOff(f.Database, enableCDC(f), nil)
}

func enableCDC(f Facts) string {
	switch {
	case f.RDS:
		return fmt.Sprintf("run EXEC msdb.dbo.rds_cdc_enable_db %s as the master user", QuoteText(f.Database))
	case f.EngineEdition == editionAzureDatabase:
		return "run EXEC sys.sp_cdc_enable_db in it, as a member of db_owner; it needs vCores, or S3 and more"
	default:
		return enableCDCStatement
	}
}

const enableCDCStatement = "run EXEC sys.sp_cdc_enable_db in it"

func cdcOff(database, remedy string, err error) error {
	return NewProblem(ReasonCDCDisabled, fmt.Sprintf("change data capture is off in database %q", database), remedy, err)
}
