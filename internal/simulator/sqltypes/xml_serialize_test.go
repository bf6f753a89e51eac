package sqltypes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// TestConvert_ToXML has the rules of MS docs, "Define the serialization of XML data",
// and of "Create instances of XML data".
func TestConvert_ToXML(t *testing.T) {
	tests := []struct {
		name, in string
		style    int
		want     string
	}{
		{"empty", "", 0, ""},
		{"text alone", "a &amp; b", 0, "a &amp; b"},
		{"no declaration", `<?xml version="1.0"?><a/>`, 0, "<a/>"},
		{"empty element", "<a></a><b ></b ><c />", 0, "<a/><b/><c/>"},
		{"white space between tags", "<a>\r\n  <b> x </b>\n\t<c>  </c>\n</a>\n", 0, "<a><b> x </b><c/></a>"},
		{"white space beside text", "<a> <b/> x <c/> </a>", 0, "<a><b/> x <c/></a>"},
		{"xml:space", `<a xml:space="preserve"> <b/>  </a>`, 0, `<a xml:space="preserve">&#x20;<b/> &#x20;</a>`},
		{"style 1", "<a> <b/>\n</a>", 1, "<a>&#x20;<b/>&#x0A;</a>"},
		{"white space as a reference", "<a>&#32;</a>", 0, "<a>&#x20;</a>"},
		{"attributes keep their order", `<a z='1' b = "it's" x="&quot;"/>`, 0, `<a z="1" b="it's" x="&quot;"/>`},
		{"white space in attributes", "<a b=\"x\ny&#10;&#9;z\"/>", 0, `<a b="x y&#xA;&#x9;z"/>`},
		{"entities", `<a b="&lt;&gt;">&lt;&gt;&apos;&quot;&#x41;&#66;</a>`, 0, `<a b="&lt;&gt;">&lt;&gt;'"AB</a>`},
		{"CDATA", "<a> <![CDATA[<x> & y]]> </a>", 0, "<a> &lt;x&gt; &amp; y </a>"},
		{"carriage return", "<a>x&#13;y\r\nz</a>", 0, "<a>x&#xD;y\nz</a>"},
		{"comment and instruction", "<a> <!-- <b> --> <?p q?> </a>", 0, "<a><!-- <b> --><?p q?></a>"},
		{"namespaces", `<p:a xmlns:p="u"><p:b p:c="1"></p:b></p:a>`, 0, `<p:a xmlns:p="u"><p:b p:c="1"/></p:a>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Convert(StringOf(tt.in), NVarCharOf(Max), Simple(XML), tt.style)
			require.NoError(t, err)
			assert.Equal(t, tt.want, v.Str())
			again, err := Convert(v, NVarCharOf(Max), Simple(XML), tt.style)
			require.NoError(t, err)
			assert.Equal(t, v, again, "what was written reads the same")
		})
	}
}

func TestConvert_XMLErrors(t *testing.T) {
	tests := []struct {
		name, in string
		from     Type
		style    int
		errNo    int32
		where    string
	}{
		{"not closed", "<a>\n<b></b>", NVarCharOf(Max), 0, 9400, "line 2, character 7"},
		{"other end", "<a></b>", NVarCharOf(Max), 0, 9436, "line 1, character 7"},
		{"unknown entity", "<a>&x;</a>", NVarCharOf(Max), 0, 9400, ""},
		{"prefix", "<p:a/>", NVarCharOf(Max), 0, 9459, ""},
		{"attribute twice", `<a b="1" b="2"/>`, NVarCharOf(Max), 0, 9437, ""},
		{"UTF-8 in nvarchar", `<?xml version="1.0" encoding="utf-8"?><a>é</a>`, NVarCharOf(Max), 0, 9402, "line 1, character 38"},
		{"UTF-16 in varchar", `<?xml version="1.0" encoding="utf-16"?><a/>`, VarCharOf(Max), 0, 9402, "line 1, character 39"},
		{"Latin-1 in varchar as UTF-8", `<?xml version="1.0" encoding="utf-8"?><a>é</a>`, VarCharOf(Max), 0, 9420, ""},
		{"declaration after a blank", ` <?xml version="1.0"?><a/>`, NVarCharOf(Max), 0, 9438, ""},
		{"document type", "<!DOCTYPE a><a/>", NVarCharOf(Max), 0, 6359, ""},
		{"document type in style 2", "<!DOCTYPE a><a/>", NVarCharOf(Max), 2, 40000, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Convert(StringOf(tt.in), tt.from, Simple(XML), tt.style)
			require.Error(t, err)
			assert.Equal(t, tt.errNo, errorNumber(err))
			assert.Contains(t, err.Error(), tt.where)
		})
	}
}

func TestConvert_FromXML(t *testing.T) {
	v, err := Convert(StringOf("<Δ a='𐌀'/>"), NVarCharOf(Max), Simple(XML), DefaultStyle)
	require.NoError(t, err)
	assert.Equal(t, `<Δ a="𐌀"/>`, v.Str(), "clients get the characters")

	text, err := Convert(v, Simple(XML), NVarCharOf(Max), DefaultStyle)
	require.NoError(t, err)
	assert.Equal(t, `<Δ a="&#x10300;"/>`, text.Str())

	raw, err := Convert(StringOf("<Δ/>"), Simple(XML), VarBinaryOf(Max), DefaultStyle)
	require.NoError(t, err)
	assert.Equal(t, []byte("\xFF\xFE\x3C\x00\x94\x03\x2F\x00\x3E\x00"), raw.Bytes())

	_, err = Convert(StringOf("<Δ/>"), Simple(XML), VarCharOf(Max), DefaultStyle)
	assert.Equal(t, int32(6355), errorNumber(err))
	_, err = Convert(StringOf("<abc/>"), Simple(XML), NVarCharOf(3), DefaultStyle)
	assert.Equal(t, int32(6354), errorNumber(err))
}

func FuzzConvert_ToXML(f *testing.F) {
	for _, seed := range []string{"<a b='1'>x</a>", "<a><![CDATA[ ]]></a>", "<?xml version='1.0' encoding='utf-8'?><a/>", "<a xml:space='preserve'> </a>", "<!---->", "<!-->-->", "&#x20;"} {
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, text string, style int) {
		v, err := Convert(StringOf(strings.ToValidUTF8(text, "?")), NVarCharOf(Max), Simple(XML), style&1)
		if err != nil {
			return
		}
		again, err := Convert(v, NVarCharOf(Max), Simple(XML), style&1)
		require.NoError(t, err, v.Str())
		require.Equal(t, v.Str(), again.Str())
	})
}
