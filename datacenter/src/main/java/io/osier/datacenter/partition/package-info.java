/**
 * The partition: one deterministic state machine with one sequencer. It does no I/O, reads no clock
 * and starts no thread; everything comes in as an input and goes out as effects, which are data.
 */
package io.osier.datacenter.partition;
