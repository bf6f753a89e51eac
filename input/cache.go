package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// cacheResource is a Benthos cache resource as a [checkpoint.Cache].
type cacheResource struct {
	mgr  *service.Resources
	name string
}

var _ checkpoint.Cache = cacheResource{}

// Get implements [checkpoint.Cache].
func (c cacheResource) Get(ctx context.Context, key string) (value []byte, err error) {
	accessErr := c.mgr.AccessCache(ctx, c.name, func(cache service.Cache) {
		value, err = cache.Get(ctx, key)
	})
	if accessErr != nil {
		return nil, fmt.Errorf("using cache %q: %w", c.name, accessErr)
	}
	if errors.Is(err, service.ErrKeyNotFound) {
		return nil, checkpoint.ErrNotFound
	}
	return value, err
}

// Set implements [checkpoint.Cache]. The entry has no time to live of its own.
func (c cacheResource) Set(ctx context.Context, key string, value []byte) (err error) {
	accessErr := c.mgr.AccessCache(ctx, c.name, func(cache service.Cache) {
		err = cache.Set(ctx, key, value, nil)
	})
	if accessErr != nil {
		return fmt.Errorf("using cache %q: %w", c.name, accessErr)
	}
	return err
}
