package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// partSize is the payload at which a long record goes on in another frame.
const partSize = 1 << 20

// logFile appends frames to a database's file. The database's commitMu guards all but
// syncTo.
type logFile struct {
	f *os.File
	// out is written to when there is no file: a backup.
	out  io.WriterAt
	size int64
	buf  []byte
	// broken is set when a failed write could not be taken back.
	broken error

	syncMu sync.Mutex
	synced int64 // the file is on the disk up to here
}

// frameWriter collects one record, which may take several frames.
type frameWriter struct {
	file  *logFile
	start int64 // of the record in the file
	err   error
}

// begin starts a record.
func (l *logFile) begin(kind byte) *frameWriter {
	l.buf = beginFrame(l.buf[:0], kind)
	return &frameWriter{file: l, start: l.size}
}

// split goes on in another frame when this one is long enough. It is called between
// two items of a record.
func (w *frameWriter) split() {
	if len(w.file.buf) < partSize || w.err != nil {
		return
	}
	w.write(true)
	w.file.buf = beginFrame(w.file.buf[:0], frameContinues)
}

func (w *frameWriter) write(more bool) {
	l := w.file
	if len(l.buf) > maxFrame {
		w.err = fmt.Errorf("record of %d bytes is too long", len(l.buf))
		return
	}
	endFrame(l.buf, 0, more)
	n, err := l.target().WriteAt(l.buf, l.size)
	l.size += int64(n)
	w.err = err
}

// target is what frames are written to.
func (l *logFile) target() io.WriterAt {
	if l.f == nil {
		return l.out
	}
	return l.f
}

// end writes the rest of the record. On an error nothing of it stays in the file.
func (w *frameWriter) end() error {
	l := w.file
	if l.broken != nil {
		return l.broken
	}
	if w.err == nil {
		w.write(false)
	}
	if cap(l.buf) > 4*partSize {
		l.buf = nil
	}
	if w.err == nil || l.f == nil {
		return w.err
	}
	l.size = w.start
	if err := l.f.Truncate(w.start); err != nil {
		l.broken = fmt.Errorf("database file is unusable after a failed write: %w", errors.Join(w.err, err))
	}
	return w.err
}

// writeTxn appends a committed transaction and returns the offset behind it.
func (l *logFile) writeTxn(t *loggedTxn, counters []counterValue) (int64, error) {
	w := l.begin(frameTxn)
	l.buf = appendTxnHeader(l.buf, t, counters)
	for i := range t.ops {
		w.split()
		o := &t.ops[i]
		l.buf = appendOp(l.buf, o, t.beginLSN)
		if o.kind != opReplaceTable {
			continue
		}
		for _, r := range o.more.rows {
			w.split()
			l.buf = appendRewrittenRow(l.buf, o.table.id, r)
		}
	}
	err := w.end()
	return l.size, err
}

// writeLogged appends a transaction of which only the log is kept.
func (l *logFile) writeLogged(t *loggedTxn) error {
	w := l.begin(frameLogged)
	l.buf = appendTxnHeader(l.buf, t, nil)
	for i := range t.ops {
		w.split()
		l.buf = appendLoggedOp(l.buf, &t.ops[i], t.beginLSN)
	}
	return w.end()
}

func (l *logFile) writeHeader(id int, name string) error {
	w := l.begin(frameHeader)
	l.buf = binary.AppendUvarint(l.buf, fileFormat)
	l.buf = appendString(binary.AppendUvarint(l.buf, uint64(id)), name)
	return w.end()
}

func (l *logFile) writeTruncate(upto LSN) error {
	w := l.begin(frameTruncate)
	l.buf = append(l.buf, upto[:]...)
	return w.end()
}

func (l *logFile) writeRetention(keep bool) error {
	w := l.begin(frameRetention)
	l.buf = appendBool(l.buf, keep)
	return w.end()
}

func (l *logFile) writeName(name string) error {
	w := l.begin(frameName)
	l.buf = appendString(l.buf, name)
	return w.end()
}

func (l *logFile) writeCounters(list []counterValue) error {
	w := l.begin(frameCounters)
	l.buf = appendCounters(l.buf, list)
	return w.end()
}

// syncTo waits until the file is on the disk up to offset. Callers that wait together
// share a flush.
func (l *logFile) syncTo(offset int64) error {
	l.syncMu.Lock()
	defer l.syncMu.Unlock()
	if l.synced >= offset {
		return nil
	}
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	if err := l.f.Sync(); err != nil {
		return err
	}
	l.synced = info.Size()
	return nil
}

// close flushes and closes the file.
func (l *logFile) close() error {
	return errors.Join(l.f.Sync(), l.f.Close())
}
