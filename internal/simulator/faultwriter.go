package simulator

import "io"

// faultWriter passes bytes on until an armed count has passed; then the action
// runs and its error is returned. Only the connection's goroutine uses it.
type faultWriter struct {
	w      io.Writer
	armed  bool
	left   int64
	action func() error
}

// arm lets n more bytes pass.
func (f *faultWriter) arm(n int64, action func() error) {
	f.armed, f.left, f.action = true, n, action
}

func (f *faultWriter) disarm() { f.armed, f.action = false, nil }

func (f *faultWriter) Write(b []byte) (int, error) {
	if !f.armed {
		return f.w.Write(b)
	}
	if int64(len(b)) <= f.left {
		f.left -= int64(len(b))
		return f.w.Write(b)
	}
	n, err := f.w.Write(b[:f.left])
	if err != nil {
		return n, err
	}
	action := f.action
	f.disarm()
	if err := action(); err != nil {
		return n, err
	}
	more, err := f.w.Write(b[n:])
	return n + more, err
}
