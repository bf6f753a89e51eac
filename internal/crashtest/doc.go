// Package crashtest holds the promise that no change is lost or reordered
// against random workloads and random misfortune.
//
// A [Plan] is made of a seed: steps that change tables, alter their structure
// or clean up, and steps that kill, stop, cut off, stall or reject. [Plan.Run]
// plays it to two pipelines on one simulator: the subject, which suffers all of
// it, and the witness, which nothing happens to. What the subject delivered
// must then be what the witness did, once repeats are dropped by position, must
// be sound in itself, and must make the source's rows when applied to empty
// tables. [Shrink] leaves steps out of a plan that fails.
//
// TestCrash runs plans in virtual time, with everything in one process. The
// command in the folder soak runs them against simulators in processes of
// their own, in real time, where what is a second here is a millisecond. The
// command in the folder mutants breaks the input on purpose, and expects
// TestCrash to notice.
//
// A [Long] is no plan: one pipeline through millions of changes, whose memory is
// watched.
package crashtest
