// Package messages makes Benthos messages of events: their payload, raw or
// structured, and their metadata.
package messages
