// Package javaregexp matches whole names against regular expressions in the
// syntax of java.util.regex.Pattern, as Debezium matches its lists: the whole
// name, ignoring the case of ASCII letters and of no others
// (Pattern.CASE_INSENSITIVE without UNICODE_CASE).
//
// A match is decided by following all the ways through an expression at once,
// as a set of places in the name. So its time is bounded by the lengths of the
// expression and the name, lookaround included: there is no expression that
// takes for ever, and no need for a time-out. What cannot be decided that way,
// back references and atomic groups, is refused.
package javaregexp
