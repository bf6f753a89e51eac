package schema

// TimeMode chooses the form of temporal values, with Debezium's names.
type TimeMode string

// The values of time_precision_mode.
const (
	TimeAdaptive                 TimeMode = "adaptive"
	TimeAdaptiveTimeMicroseconds TimeMode = "adaptive_time_microseconds"
	TimeConnect                  TimeMode = "connect"
	TimeISOString                TimeMode = "isostring"
	TimeMicroseconds             TimeMode = "microseconds"
	TimeNanoseconds              TimeMode = "nanoseconds"
)

// TimeModes are all of them, the default first.
var TimeModes = []TimeMode{TimeAdaptive, TimeAdaptiveTimeMicroseconds, TimeConnect, TimeISOString, TimeMicroseconds, TimeNanoseconds}

// DecimalMode chooses the form of exact numbers, with Debezium's names.
type DecimalMode string

// The values of decimal_handling_mode.
const (
	DecimalPrecise DecimalMode = "precise"
	DecimalString  DecimalMode = "string"
	DecimalDouble  DecimalMode = "double"
)

// DecimalModes are all of them, the default first.
var DecimalModes = []DecimalMode{DecimalPrecise, DecimalString, DecimalDouble}

// BinaryMode chooses the form of binary values, with Debezium's names.
type BinaryMode string

// The values of binary_handling_mode.
const (
	BinaryBytes         BinaryMode = "bytes"
	BinaryBase64        BinaryMode = "base64"
	BinaryBase64URLSafe BinaryMode = "base64-url-safe"
	BinaryHex           BinaryMode = "hex"
)

// BinaryModes are all of them, the default first.
var BinaryModes = []BinaryMode{BinaryBytes, BinaryBase64, BinaryBase64URLSafe, BinaryHex}

// Modes are the choices that decide how values are written.
type Modes struct {
	Time    TimeMode
	Decimal DecimalMode
	Binary  BinaryMode
	// Placeholder stands for a value that CDC did not record
	// (unavailable_value_placeholder).
	Placeholder string
	// FieldNames adjusts the names of fields (field_name_adjustment_mode).
	FieldNames NameAdjustment
}

// DefaultModes returns Debezium's defaults.
func DefaultModes() Modes {
	return Modes{
		Time:        TimeAdaptive,
		Decimal:     DecimalPrecise,
		Binary:      BinaryBytes,
		Placeholder: "__debezium_unavailable_value",
		FieldNames:  NamesUnchanged,
	}
}
