package simulator

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// wireVersion is what PRELOGIN and LOGINACK say of a product.
func wireVersion(product string) (tds.Version, error) {
	build, err := engine.ProductBuild(product)
	if err != nil {
		return tds.Version{}, err
	}
	var v tds.Version
	if _, err := fmt.Sscanf(build, "%d.%d.%d.%d", &v.Major, &v.Minor, &v.Build, &v.SubBuild); err != nil {
		return tds.Version{}, fmt.Errorf("reading product version %q: %w", build, err)
	}
	return v, nil
}
