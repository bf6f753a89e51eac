package sqltypes

// dateOrder is the order of day, month and year in numeric dates.
type dateOrder uint8

const (
	orderMDY dateOrder = iota
	orderDMY
	orderYMD
	// orderNone is that of styles that write a month's name, a time or no separators:
	// they read no other numeric date.
	orderNone
)

// dateReading is how a CONVERT style reads numeric dates. Dates without separators,
// with a month's name and with ISO 8601's T are read alike in all of them.
type dateReading struct {
	order dateOrder
	// short and long are the widths of the year: without and with century.
	short, long bool
	// yearFirst says that a year of four digits may come first, the other two
	// numbers in the style's own order.
	yearFirst bool
	hijri     bool
}

// wants reports whether the style's years have that many digits.
func (r dateReading) wants(digits int) bool {
	return digits == 2 && r.short || digits == 4 && r.long
}

// readingOf returns how a style reads. The old types read a style's numbers in its
// order and width of the year; the newer ones read the layout that the style writes.
// Source: MS docs, "CAST and CONVERT", "Date and time styles", with and without
// century.
func readingOf(style int, legacy bool) dateReading {
	if style == DefaultStyle {
		return dateReading{order: orderMDY, short: true, long: true, yearFirst: true}
	}
	r := dateReading{order: orderNone, yearFirst: legacy}
	switch style {
	case 1, 10:
		r.order, r.short, r.yearFirst = orderMDY, true, false
	case 3, 4, 5:
		r.order, r.short, r.yearFirst = orderDMY, true, false
	case 2, 11:
		r.order, r.short, r.yearFirst = orderYMD, true, false
	case 101, 110:
		r.order, r.long = orderMDY, true
	case 103, 104, 105:
		r.order, r.long = orderDMY, true
	case 130, 131:
		r.order, r.long, r.hijri = orderDMY, true, true
	case 126, 127:
		r.order, r.long = orderYMD, true
	case 20, 21, 102, 111, 120, 121:
		r.order, r.long = orderYMD, true
		if legacy {
			r.order = orderMDY
		}
	case 22:
		if !legacy {
			r.order, r.short = orderMDY, true
		}
	case 23, 25:
		if !legacy {
			r.order, r.long = orderYMD, true
		}
	}
	return r
}
