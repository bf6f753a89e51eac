package debeziumconfig

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// offer is what a specification of the input offers.
type offer struct {
	fields map[string]service.TemplateDataPluginField
}

// current is the offer of this version of the input.
var current = sync.OnceValues(func() (offer, error) {
	env := service.NewEmptyEnvironment()
	if err := input.Register(env); err != nil {
		return offer{}, err
	}
	return offerOf(env)
})

// offerOf reads the specification that an environment has of the input.
func offerOf(env *service.Environment) (offer, error) {
	var view *service.ConfigView
	env.WalkInputs(func(name string, config *service.ConfigView) {
		if name == input.Name {
			view = config
		}
	})
	if view == nil {
		return offer{}, fmt.Errorf("there is no input %s", input.Name)
	}
	data, err := view.TemplateData()
	if err != nil {
		return offer{}, err
	}
	o := offer{fields: map[string]service.TemplateDataPluginField{}}
	for _, field := range data.Fields {
		if !strings.ContainsAny(field.FullName, ".[") {
			o.fields[field.FullName] = field
		}
	}
	if len(o.fields) == 0 {
		return offer{}, errors.New("the input has no fields")
	}
	return o, nil
}

func (o offer) has(field string) bool {
	_, ok := o.fields[field]
	return ok
}

// options are the values of an enumerated field, none if it is not one.
func (o offer) options(field string) []string {
	f := o.fields[field]
	if len(f.AnnotatedOptions) == 0 {
		return f.Options
	}
	options := make([]string, len(f.AnnotatedOptions))
	for i, option := range f.AnnotatedOptions {
		options[i] = option[0]
	}
	return options
}
