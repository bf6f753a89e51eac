package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// helpDescription takes the place of Benthos's, whose example is of components
// that this distribution does not have. {{.Name}} is the program's.
const helpDescription = `Streams the changes of SQL Server tables as Debezium change events:

     {{.Name}} quickstart
     {{.Name}} create sqlserver_cdc//stdout > ./pipeline.yaml
     {{.Name}} lint ./pipeline.yaml
     {{.Name}} run ./pipeline.yaml

   The exit code of run is 2 where the input has stopped for good (on_fatal: stop).`

// appHelp returns the template of the program's help. Benthos makes the program
// of this library; its template is the one place where the text can be set.
func appHelp() string {
	return strings.Replace(cli.AppHelpTemplate, `{{template "descriptionTemplate" .}}`, helpDescription, 1)
}
