package input

// specExamples are whole pipelines, which the tests lint.
var specExamples = []struct{ title, summary, yaml string }{
	{
		"Changes to standard output",
		"Reads two tables of one database and prints each message.",
		`
input:
  sqlserver_cdc:
    host: db.example.com
    user: cdc_reader
    password: '${MSSQL_PASSWORD}'
    database_names: [ inventory ]
    topic_prefix: server1
    table_include_list: [ 'dbo\.customers', 'dbo\.orders' ]
    checkpoint_cache: offsets

pipeline:
  threads: 1

output:
  stdout: {}

cache_resources:
  - label: offsets
    file:
      directory: ./offsets
`,
	},
	{
		"The row alone",
		"Replaces the envelope by the row after the change, and drops deletes and tombstones.",
		`
input:
  sqlserver_cdc:
    connection_string: '${MSSQL_DSN}'
    topic_prefix: server1
    structured: true
    checkpoint_cache: offsets

pipeline:
  threads: 1
  processors:
    - mapping: |
        root = if @kind == "tombstone" || @op == "d" { deleted() } else { this.after }

output:
  stdout: {}

cache_resources:
  - label: offsets
    file:
      directory: ./offsets
`,
	},
}
