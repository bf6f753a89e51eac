package storage

import (
	"errors"
	"syscall"
)

// dirLock keeps other processes out of a folder: it is a file that is open without
// sharing. It ends with the process, however that ends.
type dirLock struct{ handle syscall.Handle }

const errorSharingViolation = syscall.Errno(32)

func lockDir(path string) (*dirLock, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errorSharingViolation) {
		err = ErrDirInUse
	}
	if err != nil {
		return nil, err
	}
	return &dirLock{handle: h}, nil
}

func (l *dirLock) release() error {
	if l == nil {
		return nil
	}
	return syscall.CloseHandle(l.handle)
}
