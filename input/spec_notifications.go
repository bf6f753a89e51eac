package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Names of the fields about notifications and the statement of heartbeats.
const (
	fieldNotificationEnabledChannels = "notification_enabled_channels"
	fieldNotificationSinkTopicName   = "notification_sink_topic_name"
	fieldHeartbeatActionQuery        = "heartbeat_action_query"
)

// Values of notification_enabled_channels.
const (
	channelSink = "sink"
	channelLog  = "log"
)

// notificationConfig is where notifications go.
type notificationConfig struct {
	sink, log bool
	topic     string // of the messages
}

func heartbeatActionField() *service.ConfigField {
	return stringField(fieldHeartbeatActionQuery).
		Description("A statement that runs with each heartbeat, over a connection of its own and in each database, for example `UPDATE dbo.heartbeat SET at = SYSUTCDATETIME() WHERE id = 1` with a captured table that is there for that: it shows that changes arrive, from the database to the output. The login needs the right to run it. An error is a warning and counted. It needs `heartbeat_interval`, and is refused with `application_intent: ReadOnly`.").
		Optional().Advanced()
}

func notificationFields() []*service.ConfigField {
	return []*service.ConfigField{
		listField(fieldNotificationEnabledChannels).
			Description("Where notifications go: messages (`sink`) that tell of the progress of the snapshot and of capture instances that can be disabled, and the log (`log`). Their `kind` is `notification`. None by default.").
			Default([]any{}).Advanced().
			Example([]string{channelSink, channelLog}),
		stringField(fieldNotificationSinkTopicName).
			Description("The topic of the notifications among the messages, which `sink` needs.").
			Optional().Advanced(),
	}
}

func (r *fieldReader) notifications() notificationConfig {
	c := notificationConfig{topic: r.optionalString(fieldNotificationSinkTopicName)}
	for _, channel := range r.strings(fieldNotificationEnabledChannels) {
		switch channel {
		case channelSink:
			c.sink = true
		case channelLog:
			c.log = true
		default:
			r.refuse(fieldNotificationEnabledChannels, "unknown value %q; use %s or %s", channel, channelSink, channelLog)
		}
	}
	if c.topic != "" {
		r.topicPart(fieldNotificationSinkTopicName, c.topic)
	}
	return c
}

// validateHeartbeatAction refuses a statement that would never run.
func (c *config) validateHeartbeatAction(r *fieldReader) {
	switch {
	case c.heartbeatAction == "":
	case c.server.ApplicationIntent == sqlserver.IntentReadOnly:
		r.refuse(fieldHeartbeatActionQuery, "it is there to write, which %s: %s forbids; remove it, or read the primary with %s",
			fieldApplicationIntent, sqlserver.IntentReadOnly, sqlserver.IntentReadWrite)
	case c.heartbeatInterval == 0:
		r.refuse(fieldHeartbeatActionQuery, "it runs with each heartbeat, and %s: 0s sends none; set %s, to 10s for example, or remove the statement",
			fieldHeartbeatInterval, fieldHeartbeatInterval)
	}
}
