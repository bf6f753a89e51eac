package debezium

import (
	"fmt"
	"slices"
	"strconv"
)

// ranks number the LSNs of a play by their order, so that what is compared does
// not depend on where in the log a transaction came to stand.
type ranks struct {
	commits []string
	changes map[string][]string // of a commit
}

func ranksOf(payloads []Payload) ranks {
	r := ranks{changes: map[string][]string{}}
	for _, p := range payloads {
		if p.Source.CommitLSN == nil || p.Source.ChangeLSN == nil {
			continue
		}
		commit := *p.Source.CommitLSN
		r.commits = append(r.commits, commit)
		r.changes[commit] = append(r.changes[commit], *p.Source.ChangeLSN)
	}
	slices.Sort(r.commits)
	r.commits = slices.Compact(r.commits)
	for commit, changes := range r.changes {
		slices.Sort(changes)
		r.changes[commit] = slices.Compact(changes)
	}
	return r
}

// commit is the number of a transaction from 1, or the text itself if no
// record has it.
func (r ranks) commit(lsn string) string {
	if i, found := slices.BinarySearch(r.commits, lsn); found {
		return strconv.Itoa(i + 1)
	}
	return lsn
}

// position is the number of the transaction and of the change in it.
func (r ranks) position(s Source) string {
	if s.CommitLSN == nil || s.ChangeLSN == nil {
		return ""
	}
	i, _ := slices.BinarySearch(r.changes[*s.CommitLSN], *s.ChangeLSN)
	return fmt.Sprintf("commit %s, change %d", r.commit(*s.CommitLSN), i+1)
}
