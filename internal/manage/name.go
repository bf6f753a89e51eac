package manage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxName is the longest name of a capture instance.
// Source: MS docs, sys.sp_cdc_enable_table, @capture_instance.
const maxName = 100

// partialMark ends the names of instances that leave out columns on purpose.
const partialMark = "p"

// Owner stands for an input in the names of the instances that it makes.
type Owner string

// OwnerOf returns the owner with a key, which no other input of the database
// has: that under which the position is stored.
func OwnerOf(key string) Owner {
	sum := sha256.Sum256([]byte(key))
	return Owner("m" + hex.EncodeToString(sum[:4]))
}

// Name returns the name of a new instance of a table:
//
//	<schema>_<table>_<owner>_<number>, and p at the end of a partial one
//
// The number is one higher than that of any instance whose name begins like it.
// Schema and table are cut at their end where the name would be too long.
func (o Owner) Name(schema, table string, partial bool, taken []string) string {
	end := ""
	if partial {
		end = partialMark
	}
	for number := 1; ; number++ {
		suffix := fmt.Sprintf("_%s_%d", o, number)
		name := cut(schema+"_"+table, maxName-len(suffix)-len(partialMark)) + suffix
		if !anyAtOrAbove(taken, strings.TrimSuffix(name, strconv.Itoa(number)), number) {
			return name + end
		}
	}
}

// anyAtOrAbove reports whether a name consists of a beginning and of a number
// that is not less than one. Upper and lower case are alike, as they are in most
// databases.
func anyAtOrAbove(names []string, beginning string, least int) bool {
	for _, name := range names {
		if len(name) <= len(beginning) || !strings.EqualFold(name[:len(beginning)], beginning) {
			continue
		}
		number, err := strconv.Atoi(strings.TrimSuffix(strings.ToLower(name[len(beginning):]), partialMark))
		if err == nil && number >= least {
			return true
		}
	}
	return false
}

// cut returns the longest beginning of a text that has no more than n characters
// as the server counts them, which are UTF-16's.
// Source: MS docs, nchar and nvarchar.
func cut(text string, n int) string {
	for i, r := range text {
		if n -= utf16.RuneLen(r); n < 0 {
			return text[:i]
		}
	}
	return text
}

// Owns reports whether an instance was made by the owner.
func (o Owner) Owns(name string) bool {
	_, owned := o.number(name)
	return owned
}

// whole reports whether an instance was made by the owner with all columns that
// there were.
func (o Owner) whole(name string) bool {
	number, owned := o.number(name)
	return owned && !strings.HasSuffix(number, partialMark)
}

// number returns what a name of the owner's ends in.
func (o Owner) number(name string) (number string, owned bool) {
	at := strings.LastIndex(name, "_"+string(o)+"_")
	if at <= 0 {
		return "", false
	}
	number = name[at+len(o)+2:]
	_, err := strconv.ParseUint(strings.TrimSuffix(number, partialMark), 10, 32)
	return number, err == nil
}
