package input_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One of several databases whose position is lost stops alone, and the text of its
// error starts it alone afresh: another key would start all of them afresh.
func TestMany_LostPositionOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := newServerOf(t, three...), newStore()
		s := settings{fields: threeDatabases(""), store: kept}
		p := startPipeline(t, server, s)
		for _, name := range three {
			p.awaitCount(name, 2)
		}
		p.stop()
		for _, key := range []string{"position.a", "position.b", "snapshot.a", "snapshot.b"} {
			require.NoError(t, kept.Delete(t.Context(), "server1.b."+key))
		}
		for _, name := range three {
			changeIn(t, server, name, inserts(10, 11))
		}

		p = startPipeline(t, server, s)
		<-time.After(time.Minute)
		assert.Equal(t, rowsOf(10, 11), shorts(ofDatabase(p.rest(), "a")))
		assert.Equal(t, rowsOf(10, 11), shorts(ofDatabase(p.rest(), "c")))
		assert.Empty(t, ofDatabase(p.rest(), "b"))
		_, text, found := strings.Cut(p.logs.String(), "Cannot go on (checkpoint_damaged)")
		require.True(t, found, p.logs)
		text, _, _ = strings.Cut(text, "\n")
		assert.NotContains(t, text, "checkpoint_cache_key")
		_, list, _ := strings.Cut(text, "remove the keys ")
		p.stop()
		names := regexp.MustCompile(`\\"(server1\.b\.[^"\\]+)\\"`).FindAllStringSubmatch(list, -1)
		require.Len(t, names, 7)
		for _, name := range names {
			require.NoError(t, kept.Delete(t.Context(), name[1]))
		}

		p = startPipeline(t, server, s)
		<-time.After(time.Minute)
		assert.Equal(t, append(twoRows, `r dbo.t {"id":10,"name":"n10"}`), shorts(p.rest()), "b alone")
		assert.Equal(t, 1, countLines(p, "Start without a stored position"))
		assert.Equal(t, 2, countLines(p, "Start from the stored position: streaming"))
	})
}
