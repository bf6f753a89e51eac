package debezium

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// stepPatience is how long a step may take before it counts as hung.
	stepPatience = 60 * time.Second
	// silence is how long nothing may come from a connector that has read
	// everything and has an empty queue: the way from the queue to us.
	silence = 250 * time.Millisecond
	// lookInterval is between two looks at something that does not call.
	lookInterval = 10 * time.Millisecond
)

// Player plays a scenario.
type Player struct {
	Server    *Server
	Connector Connector
	// Recorder is where the connector's records and phases go.
	Recorder *Recorder
	// Failure, if set, is asked for the text of the error to wait for instead
	// of Debezium's.
	Failure func(text string) string

	running bool
	awaited int // records that were waited for
	signals int
}

// Play performs the steps and stops the connector. The records are in the
// Recorder then.
func (p *Player) Play(ctx context.Context, scenario Scenario) error {
	for _, step := range scenario.Steps {
		if err := p.perform(ctx, scenario, step); err != nil {
			return fmt.Errorf("%q: %w", firstLine(step.String()), err)
		}
	}
	if !p.running {
		return nil
	}
	return p.perform(ctx, scenario, Stop{})
}

func (p *Player) perform(ctx context.Context, scenario Scenario, step Step) error {
	ctx, cancel := context.WithTimeout(ctx, stepPatience)
	defer cancel()
	switch step := step.(type) {
	case SQL:
		return p.Server.Exec(step.Script)
	case Capture:
		return p.Server.Capture()
	case Begin:
		return p.Server.Begin(ctx, step.Statements)
	case Commit:
		return p.Server.Commit()
	case Rollback:
		return p.Server.Rollback()
	case Disconnect:
		p.Server.Disconnect()
		return nil
	case Clock:
		p.Server.Clock.Advance(step.Ahead)
		return nil
	case Signal:
		return p.signal(scenario, step)
	case Start:
		return p.start(ctx, scenario, step.Properties)
	case Stop:
		return p.stop(ctx)
	case StopOrFail:
		err := p.awaitQuiet(ctx)
		if err == nil {
			err = p.stop(ctx)
		}
		if errors.Is(err, ErrConnectorFailed) {
			return p.awaitError(ctx, step.Text)
		}
		return err
	case Restart:
		if err := p.stop(ctx); err != nil {
			return err
		}
		return p.start(ctx, scenario, step.Properties)
	case WaitRecords:
		p.awaited += step.Count
		return p.Recorder.AwaitRecords(ctx, p.awaited)
	case WaitQuiet:
		if step.Capturing {
			return p.captureUntilQuiet(ctx)
		}
		return p.awaitQuiet(ctx)
	case WaitPhase:
		return p.Recorder.AwaitPhase(ctx, step.Phase)
	case WaitUntil:
		return p.awaitCondition(ctx, step.Condition)
	case WaitError:
		return p.awaitError(ctx, step.Text)
	}
	return fmt.Errorf("no player for a step of type %T", step)
}

func (p *Player) start(ctx context.Context, scenario Scenario, properties Properties) error {
	p.running = true
	return p.Connector.Start(ctx, p.Server.Properties().With(scenario.Properties).With(properties))
}

func (p *Player) stop(ctx context.Context) error {
	p.running = false
	return p.Connector.Stop(ctx)
}

func (p *Player) signal(scenario Scenario, s Signal) error {
	database, schema, table, ok := scenario.Properties.SignalTable()
	if !ok {
		return fmt.Errorf("no table in signal.data.collection %q", scenario.Properties["signal.data.collection"])
	}
	p.signals++
	return p.Server.Signal(database, schema, table, fmt.Sprintf("signal-%d", p.signals), s.Type, s.Data)
}

func (p *Player) captureUntilQuiet(ctx context.Context) error {
	for {
		before := p.awaited
		if err := p.Server.Capture(); err != nil {
			return err
		}
		if err := p.awaitQuiet(ctx); err != nil || p.awaited == before {
			return err
		}
	}
}

func (p *Player) awaitQuiet(ctx context.Context) error {
	if err := p.awaitRead(ctx); err != nil {
		return err
	}
	read := time.Now()
	for {
		queued, err := p.Connector.Queued(ctx)
		if err != nil {
			return err
		}
		count, last := p.Recorder.Last()
		if queued == 0 && time.Since(read) > silence && time.Since(last) > silence {
			p.awaited = count
			return nil
		}
		if err := p.pause(ctx); err != nil {
			return fmt.Errorf("waiting for silence after %d records: %w", count, err)
		}
	}
}

// awaitRead waits until the connector has certainly read what is captured now.
func (p *Player) awaitRead(ctx context.Context) error {
	more, err := p.Server.PollsUntilRead()
	if err != nil {
		return err
	}
	for until := p.Server.Polls() + more; p.Server.Polls() < until; {
		if err := p.pause(ctx); err != nil {
			return fmt.Errorf("waiting for %d looks at the log, %d to go: %w", more, until-p.Server.Polls(), err)
		}
	}
	return nil
}

// pause waits for the next look.
func (p *Player) pause(ctx context.Context) error {
	if err := p.Recorder.Err(); err != nil {
		return err
	}
	select {
	case <-time.After(lookInterval):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Player) awaitCondition(ctx context.Context, condition string) error {
	for {
		if holds, err := p.Server.Holds(condition); err != nil || holds {
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

func (p *Player) awaitError(ctx context.Context, text string) error {
	message, err := p.Recorder.AwaitFailure(ctx)
	if err != nil {
		return err
	}
	if p.Failure != nil {
		text = p.Failure(text)
	}
	if !strings.Contains(message, text) {
		return fmt.Errorf("want an error with %q, got: %s", text, message)
	}
	p.running = false
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
