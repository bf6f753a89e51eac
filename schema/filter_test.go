package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilter_Match(t *testing.T) {
	include := func(patterns ...string) FilterOptions { return FilterOptions{TableInclude: patterns} }
	exclude := func(patterns ...string) FilterOptions { return FilterOptions{TableExclude: patterns} }
	tests := []struct {
		name     string
		opts     FilterOptions
		yes, not []string
	}{
		{"no lists", FilterOptions{}, []string{"orders"}, nil},
		{"whole name", include(`dbo\.orders`), []string{"orders"}, []string{"orders2", "my.orders"}},
		{"case ignored", include(`DBO\.Orders`), []string{"orders", "ORDERS"}, nil},
		{"alternation is anchored as a whole", include(`dbo\.a|dbo\.b`), []string{"a", "b"}, []string{"ab", "a|dbo.b"}},
		{"several patterns, blanks around", include(` dbo\.a `, `dbo\.b`), []string{"a", "b"}, []string{"c"}},
		{"lookahead", include(`dbo\.(?!tmp_).*`), []string{"orders"}, []string{"tmp_1"}},
		{"lookbehind", include(`dbo\..*(?<!_old)`), []string{"orders"}, []string{"orders_old"}},
		{"exclude", exclude(`dbo\.tmp.*`), []string{"orders"}, []string{"tmp1"}},
		{"predefined classes are ASCII", include(`dbo\.\w+`, `dbo\.[\d]+x`, `dbo\.\D\d`), []string{"orders_2", "12x", "é2"}, []string{"naïve", "١x", "éé"}},
		{"letters beyond ASCII", include(`dbo\.naïve\s?`), []string{"naïve"}, []string{"naive"}},
		{"only ASCII letters have two cases", include(`dbo\.İ`, `dbo\.kı`), []string{"İ", "Kı"}, []string{"i", "I", "ı", "ki", "kI"}},
		{"Java's quotation", include(`dbo\.\Qa.b[1]\E.*`), []string{"a.b[1]", "A.B[1]x"}, []string{"axb[1]", "a.b1"}},
		{"the end is the end", include(`dbo\.orders$`), []string{"orders"}, []string{"orders\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := NewFilter(tt.opts)
			require.NoError(t, err)
			for _, table := range tt.yes {
				assert.True(t, f.Match("dbo", table), table)
			}
			for _, table := range tt.not {
				assert.False(t, f.Match("dbo", table), table)
			}
		})
	}
}

func TestFilter_Order(t *testing.T) {
	f, err := NewFilter(FilterOptions{TableInclude: []string{`dbo\.b`, `dbo\..*`}})
	require.NoError(t, err)
	assert.Equal(t, 0, f.Order("dbo", "b"))
	assert.Equal(t, 1, f.Order("dbo", "a"))
	f, err = NewFilter(FilterOptions{})
	require.NoError(t, err)
	assert.Equal(t, 0, f.Order("dbo", "a"))
}

func TestFilter_Unmatched(t *testing.T) {
	f, err := NewFilter(FilterOptions{TableInclude: []string{`dbo\.a`, `dbo\.nosuch`}})
	require.NoError(t, err)
	assert.Equal(t, []string{`dbo\.nosuch`}, f.Unmatched([]TableID{{"db", "dbo", "A"}, {"db", "dbo", "b"}}))
}

func TestNewFilter_Errors(t *testing.T) {
	tests := []struct {
		name string
		opts FilterOptions
		want []string
	}{
		{"both lists", FilterOptions{TableInclude: []string{"a"}, TableExclude: []string{"b"}}, []string{"table_include_list", "table_exclude_list"}},
		{"bad expression", FilterOptions{TableInclude: []string{`dbo\.a`, `dbo.(`}}, []string{"table_include_list[1]", `"dbo.("`}},
		{"unbalanced the other way", FilterOptions{TableExclude: []string{`a)|(b`}}, []string{"table_exclude_list[0]"}},
		{"empty", FilterOptions{TableExclude: []string{" "}}, []string{"table_exclude_list[0] is empty"}},
		{"possessive quantifier", FilterOptions{TableInclude: []string{`a++`}}, []string{`a++`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewFilter(tt.opts)
			require.Error(t, err)
			for _, part := range tt.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}
