package simulator

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// parseVersion reads "16.0.4165.4".
func parseVersion(s string) (tds.Version, error) {
	var v tds.Version
	if _, err := fmt.Sscanf(s, "%d.%d.%d.%d", &v.Major, &v.Minor, &v.Build, &v.SubBuild); err != nil {
		return tds.Version{}, fmt.Errorf("reading product version %q: %w", s, err)
	}
	return v, nil
}
