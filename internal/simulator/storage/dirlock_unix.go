//go:build unix

package storage

import (
	"errors"
	"os"
	"syscall"
)

// dirLock keeps other processes out of a folder. It ends with the process, however
// that ends.
type dirLock struct{ f *os.File }

func lockDir(path string) (*dirLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrDirInUse
		}
		return nil, errors.Join(err, f.Close())
	}
	return &dirLock{f: f}, nil
}

func (l *dirLock) release() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}
