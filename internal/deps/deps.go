// Package deps pins the modules while the packages that use them are written.
package deps

import (
	_ "github.com/Jeffail/checkpoint"
	_ "github.com/Jeffail/gabs/v2"
	_ "github.com/Jeffail/shutdown"
	_ "github.com/dlclark/regexp2"
	_ "github.com/microsoft/go-mssqldb"
	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	_ "github.com/redpanda-data/benthos/v4/public/service"
	_ "github.com/redpanda-data/benthos/v4/public/schema"
	_ "github.com/shopspring/decimal"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "github.com/tidwall/btree"
	_ "github.com/urfave/cli/v2"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/text/encoding"
	_ "golang.org/x/text/collate"
	_ "pgregory.net/rapid"
)
