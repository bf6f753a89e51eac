// Package signal holds what an input tells of itself, notifications, in the
// words of Debezium.
package signal
