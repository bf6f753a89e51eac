package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// workInterval is the pause between two changes of the workload.
const workInterval = time.Second

// changes are what the workload does in turn; {n} counts the rounds.
var changes = []string{
	`USE inventory;
BEGIN TRANSACTION;
INSERT INTO dbo.orders (customer_id, product_id, quantity) VALUES (1 + {n} % 4, 1 + {n} % 5, 1 + {n} % 3);
UPDATE dbo.products SET stock = stock - 1 - {n} % 3 WHERE id = 1 + {n} % 5;
COMMIT TRANSACTION;`,
	`USE inventory;
UPDATE dbo.products SET stock = stock + 5 WHERE id = 1 + {n} % 5;`,
	`USE inventory;
UPDATE dbo.customers SET email = 'customer{n}@example.com' WHERE id = 1 + {n} % 4;`,
	`USE inventory;
DELETE FROM dbo.orders WHERE id = (SELECT MIN(id) FROM dbo.orders);`,
}

// work changes the inventory until ctx ends.
func work(ctx context.Context, server *simulator.Server) error {
	ticker := time.NewTicker(workInterval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		change, round := changes[n%len(changes)], n/len(changes)
		if err := server.Exec(strings.ReplaceAll(change, "{n}", strconv.Itoa(round))); err != nil {
			return fmt.Errorf("changing the inventory: %w", err)
		}
	}
}
