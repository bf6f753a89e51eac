package crashtest

import (
	"fmt"
	"math/rand/v2"
)

// planner makes a plan of random numbers.
type planner struct {
	rng      *rand.Rand
	traits   traits
	places   []*place
	steps    []Step
	features features
}

// place is a database of the plan, as far as it is made.
type place struct {
	database string
	work     workload
	columns  int // added to table a so far
	copies   int // capture instances made so far
}

func newPlanner(rng *rand.Rand, t traits) *planner {
	p := &planner{rng: rng, traits: t, features: features{}}
	for _, database := range t.databases() {
		p.places = append(p.places, &place{database: database, work: workload{rng: rng, features: p.features}})
	}
	p.features.ofTraits(t)
	return p
}

// plan adds all steps.
func (p *planner) plan() {
	p.changes(3 + p.rng.IntN(10))
	p.add(start{})
	for range 6 + p.rng.IntN(8) {
		p.changes(1 + p.rng.IntN(8))
		p.trouble()
		switch p.rng.IntN(8) {
		case 0, 1:
			p.structure()
		case 2:
			if p.traits.denied {
				p.denial()
			}
		}
	}
	if p.traits.denied {
		p.denial()
	} else if p.rng.IntN(4) == 0 {
		p.lapse()
		for range 2 + p.rng.IntN(3) {
			p.changes(1 + p.rng.IntN(8))
			p.trouble()
		}
	}
}

// add adds a step, and notes what it is an example of.
func (p *planner) add(s Step, examples ...feature) {
	p.steps = append(p.steps, s)
	p.features.note(examples...)
}

// somewhere picks one of the databases.
func (p *planner) somewhere() *place {
	if len(p.places) == 1 {
		return p.places[0]
	}
	return p.places[p.rng.IntN(len(p.places))]
}

// changes adds transactions, each a step of its own, so that each can be left
// out.
func (p *planner) changes(n int) {
	for range n {
		at := p.somewhere()
		switch p.rng.IntN(40) {
		case 0:
			p.huge(at)
		case 1, 2:
			p.add(overlap{at.database, at.work.slow(), at.work.slow()}, overlapping)
		default:
			p.add(change{at.database, at.work.transaction()})
		}
		if p.rng.IntN(3) == 0 {
			p.add(scan{at.database})
		}
	}
	for _, at := range p.places {
		p.add(scan{at.database})
	}
}

// huge adds a transaction of hundreds of rows, and another that takes them away
// again: with them the transactions that change all rows would be as large.
func (p *planner) huge(at *place) {
	rows := 50 + p.rng.IntN(300)
	if p.traits.function {
		rows /= 4 // each page costs a look at all of the range
	}
	p.add(change{at.database, at.work.huge(rows)}, hugeTransaction)
	if p.rng.IntN(2) == 0 {
		p.changes(1)
	}
	p.add(change{at.database, "DELETE dbo.a WHERE v = N'big'\nDELETE dbo.b WHERE k = N'huge'\nGO\n"})
}

// trouble adds a misfortune, and a while in which it may happen.
func (p *planner) trouble() {
	switch p.rng.IntN(24) {
	case 20:
		p.add(takeover{newSettings(p.rng)}, takenOver)
	case 0, 1, 2, 3, 4, 5:
		p.kill()
	case 6, 7:
		s := restart{newSettings(p.rng), p.rng.IntN(4) == 0}
		p.add(s, stopAndStart)
		if s.hasty {
			p.features.note(hastyStop)
		}
	case 8, 9, 10, 11:
		p.add(reject{1 + p.rng.IntN(12), p.rng.Uint64()}, rejection)
	case 12, 13:
		p.add(block{1 + p.rng.IntN(60)}, blockedOutput)
	case 14, 15:
		p.add(cutSessions{}, sessionKill)
	case 16, 17:
		p.add(restartServer{}, serverRestart)
	default:
		for range 1 + p.rng.IntN(3) {
			p.fault()
		}
	}
	p.add(pause{p.rng.IntN(20)})
}

func (p *planner) kill() {
	k := kill{next: newSettings(p.rng), after: p.rng.IntN(12), torn: p.rng.IntN(2) == 0}
	if p.rng.IntN(2) != 0 {
		p.add(k, killAtMessage)
		return
	}
	k.save, k.after = 1+p.rng.IntN(4), -1
	p.add(k, killAtSave)
	if k.torn {
		p.features.note(tornSave)
	}
}

func (p *planner) fault() {
	objects := []string{
		"", "select from cdc.dbo_a_ct", "select from cdc.dbo_b_ct", "select from cdc.lsn_time_mapping", "select from cdc.change_tables",
		"select from dbo.a", "select from dbo.b", "select from sys.columns", "begin", "login",
	}
	f := Fault{
		On: objects[p.rng.IntN(len(objects))], App: subjectName, Nth: 1 + p.rng.IntN(3),
		Do: misfortunes[p.rng.IntN(len(misfortunes))],
	}
	if f.On != "login" {
		switch p.rng.IntN(4) {
		case 0, 1:
			f.AfterRows = int64(1 + p.rng.IntN(4))
		case 2:
			if f.Do == Cut || f.Do == Restart || f.Do == Stall {
				f.AfterBytes = int64(1 + p.rng.IntN(2000))
			}
		}
	}
	seconds := 3
	if f.Do == Stall {
		seconds = pick(p.rng, 1, 30, 900) // the last one longer than the input waits
	}
	p.add(fault{f, seconds}, faultFeature(f.Do))
}

// structure adds a change of a table's structure with what follows it: another
// capture instance, and later the end of the one before.
func (p *planner) structure() {
	at := p.somewhere()
	switch p.rng.IntN(4) {
	case 0:
		p.add(cleanup{at.database}, cleanedUpAfter)
		return
	case 1:
		p.add(change{at.database, "ALTER TABLE dbo.a ALTER COLUMN v nvarchar(" + fmt.Sprint(30+10*p.rng.IntN(5)) + ") NULL\nGO\n"}, columnAltered)
		p.add(scan{at.database})
		return
	}
	at.copies++
	name := fmt.Sprint("dbo_a_", at.copies)
	if p.rng.IntN(3) == 0 && at.columns > 0 {
		column := at.work.added[p.rng.IntN(len(at.work.added))]
		p.add(change{at.database, fmt.Sprintf("IF COL_LENGTH(N'dbo.a', N'%[1]s') IS NOT NULL EXEC(N'ALTER TABLE dbo.a DROP COLUMN %[1]s')\nGO\n", column)}, columnDropped)
	} else {
		at.columns++
		column := fmt.Sprint(addedPrefix, at.columns)
		at.work.added = append(at.work.added, column)
		p.add(change{at.database, "ALTER TABLE dbo.a ADD " + column + " int NULL\nGO\n"}, columnAdded)
	}
	p.changes(1 + p.rng.IntN(4))
	p.add(secondInstance{at.database, name}, handOver)
	if p.traits.manage {
		p.features.note(managing)
	}
	p.changes(1 + p.rng.IntN(6))
	p.trouble()
	p.changes(1 + p.rng.IntN(4))
	p.add(dropOldInstance{at.database}, oldInstanceDropped)
}

// denial takes the right to read a change table away for a while.
func (p *planner) denial() {
	at := p.somewhere()
	table := []string{"b", "h"}[p.rng.IntN(2)]
	p.add(deny{at.database, table}, tableDenied)
	for range 1 + p.rng.IntN(3) {
		p.changes(1 + p.rng.IntN(6))
		p.trouble()
	}
	g := grant{database: at.database, table: table}
	if p.rng.IntN(3) > 0 {
		next := newSettings(p.rng)
		g.next = &next
	}
	p.add(g, tableGranted)
}

// lapse adds something that takes changes away before they are read. The
// pipeline must say so, and starts afresh.
func (p *planner) lapse() {
	at := p.somewhere()
	s := lapse{
		database: at.database, how: lapseKind(p.rng.IntN(int(lapseKinds))),
		changes: at.work.transaction() + at.work.transaction(), next: newSettings(p.rng),
	}
	p.add(s, lapseFeature(s.how))
	if s.how == cleanedUp && p.traits.reread {
		p.features.note(rowsReadAgain)
	}
}
