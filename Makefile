# What a contributor runs. `make check` is what the gate runs.
include .versions

BIN      := $(CURDIR)/bin
GO       ?= go
FUZZTIME ?= 3s
SHELL    := /bin/bash

.PHONY: build test race load soak soak-long mutants fmt lint fuzz-smoke examples quickstart-smoke cross interop live golden goldens bench check clean

build: ## the distribution, in bin/
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o $(BIN)/sqlserver-cdc ./cmd/sqlserver-cdc

# Tests build and drop whole servers: collecting less often saves a fifth of their
# CPU time, for some hundred megabytes.
TEST_GOGC ?= 400

test: ## the tests, without network or services
	GOGC=$(TEST_GOGC) $(GO) test ./...

race: ## the tests under the race detector, their longest matrices in part
	GOGC=$(TEST_GOGC) $(GO) test -race -timeout 45m ./...

LOAD_SECONDS ?= 30
load: ## many connections of mixed work on the simulator for LOAD_SECONDS
	SIMULATOR_LOAD_SECONDS=$(LOAD_SECONDS) $(GO) test -race -timeout 10m -count 1 -run '^TestLoad$$' ./internal/simulator

SEEDS ?= 1000
FIRST ?= 0
soak: ## SEEDS random plans of mishaps, fresh ones or from seed FIRST on, against simulators in processes of their own
	$(GO) build -o $(BIN)/soak ./internal/crashtest/soak
	$(BIN)/soak -seeds $(SEEDS) -first $(FIRST)

EVENTS ?= 10000000
FAULTS ?= 1000
soak-long: ## one pipeline through EVENTS changes and FAULTS faults; nothing lost, and its memory flat
	$(GO) build -o $(BIN)/soak ./internal/crashtest/soak
	$(BIN)/soak -events $(EVENTS) -faults $(FAULTS) -first $(FIRST)

mutants: ## break the input on purpose; fails if the crash test does not notice
	$(GO) run ./internal/crashtest/mutants

bin/golangci-lint: .versions
	GOBIN=$(BIN) $(GO) install $(GOLANGCI_LINT)
	@touch $@

fmt: bin/golangci-lint ## rewrite the sources as gofumpt and goimports would
	$(BIN)/golangci-lint fmt

lint: bin/golangci-lint ## formatting, vet and linters
	$(BIN)/golangci-lint fmt --diff
	$(GO) vet -tags interop ./...
	$(BIN)/golangci-lint run

fuzz-smoke: ## every fuzz target for FUZZTIME each
	FUZZTIME=$(FUZZTIME) ./scripts/fuzz-smoke

examples: build ## lint every YAML in config_examples and resources
	./scripts/lint-examples $(BIN)/sqlserver-cdc

quickstart-smoke: build ## start the quickstart twice, as a newcomer would
	./scripts/quickstart-smoke $(BIN)/sqlserver-cdc

cross: ## builds for the other platforms
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/sqlserver-cdc
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/sqlserver-cdc
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/sqlserver-cdc

# The plays of Debezium mostly wait: more of them at once than cores.
interop: ## other people's programs against the simulator: SQL clients, Debezium
	./interop/drivers/setup
	$(GO) test -tags interop -count 1 -timeout 20m -parallel 6 ./interop/...

live: ## every scenario against Debezium itself, by name; a part of what interop does
	$(GO) test -tags interop ./interop/debezium -run TestScenarios -count 1 -timeout 20m -parallel 6 -v

golden: ## rewrite golden scripts and the page of fields; read the diff before committing it
	$(GO) test ./input -run 'Golden|FieldsPage' -rewrite
	$(GO) test ./internal/debeziumconfig -run Golden -rewrite
	$(GO) test ./internal/sqlserver -run OperationsPage -rewrite
	$(GO) test ./internal/simulator/engine -run Scripts -rewrite

goldens: ## record Debezium's records anew; needs what interop needs
	$(GO) test -tags interop ./interop/debezium -run TestScenarios -rewrite -count 1 -timeout 20m
	$(GO) test ./interop/debezium -run 'TestMatrix|TestHistory|TestDifferencesPage' -rewrite

bench: ## the figures of docs/performance.md
	$(GO) test ./input ./internal/simulator -run '^$$' -bench . -benchtime 3x -timeout 30m

check: lint test race mutants load fuzz-smoke examples quickstart-smoke cross interop

clean:
	rm -rf $(BIN)
