package sqltypes

import (
	"math"
	"strings"
)

// moneyRange returns the bounds of a money type in ten-thousandths.
func moneyRange(id ID) (low, high int64) {
	if id == SmallMoney {
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// toMoney rounds to four decimals.
func toMoney(v Value, from, to Type) (Value, error) {
	low, high := moneyRange(to.ID)
	overflow := overflowConverting("expression", to.Name(), 2)
	var d Dec
	switch v.kind {
	case KindMoney:
		if i := v.Int64(); i < low || i > high {
			return Value{}, overflow
		}
		return v, nil
	case KindText:
		var err error
		if d, err = parseMoney(v, to); err != nil {
			return Value{}, err
		}
	case KindBytes:
		i := bytesToInteger(v.s, Simple(map[ID]ID{Money: BigInt, SmallMoney: Int}[to.ID]))
		return MoneyOf(i.Int64()), nil
	default:
		var err error
		if d, err = exactDecimal(v, from, Type{ID: Numeric, Precision: MaxPrecision, Scale: 4}); err != nil {
			return Value{}, overflow
		}
	}
	d, ok := d.Rescale(4)
	if !ok {
		return Value{}, overflow
	}
	d.Scale = 0
	i, ok := d.Int64()
	if !ok || i < low || i > high {
		return Value{}, overflow
	}
	return MoneyOf(i), nil
}

// currencySigns may stand before an amount (MS docs, "money and smallmoney").
const currencySigns = "$¢£¤¥৲৳฿៛₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱﷼﹩＄￠￡￥￦"

// parseMoney reads an amount as text: a sign, a currency sign, digits with commas,
// four or more decimals. Empty text is 0. Errors 235 and 293.
func parseMoney(v Value, to Type) (Dec, error) {
	bad := Errorf(235, 0, 16, "Cannot convert a char value to money. The char value has incorrect syntax.")
	if to.ID == SmallMoney {
		bad = Errorf(293, 0, 16, "Cannot convert char value to smallmoney. The char value has incorrect syntax.")
	}
	text := strings.Trim(v.s, blanks)
	sign := ""
	for text != "" && (text[0] == '-' || text[0] == '+') && sign == "" {
		sign, text = text[:1], strings.TrimLeft(text[1:], blanks)
	}
	if r, w := firstRune(text); w > 0 && strings.ContainsRune(currencySigns, r) {
		text = strings.TrimLeft(text[w:], blanks)
	}
	if sign == "" && text != "" && (text[0] == '-' || text[0] == '+') {
		sign, text = text[:1], text[1:]
	}
	text = strings.ReplaceAll(text, ",", "")
	if text == "" || text == "." {
		return Dec{}, nil
	}
	if text[0] == '-' || text[0] == '+' {
		return Dec{}, bad
	}
	d, ok := ParseDec(sign + text)
	if !ok {
		return Dec{}, bad
	}
	return d, nil
}

func firstRune(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	return decodeRune(s)
}
