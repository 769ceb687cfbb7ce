/**
 * The partition: one deterministic state machine with one sequencer. It does no I/O, reads no clock
 * and starts no thread; everything comes in as an input and goes out as effects, which are data.
 *
 * <p>{@code Partition} routes inputs and ticks. {@code Commands} serves and parks what clients ask
 * for, {@code Writes} does updates of single objects, with the {@code rights} that some need,
 * {@code Programs} does lists of calls in one turn, {@code Transactions} does those of
 * transactions. All commit through {@code Sequencer}, which changes {@code PartitionObjects};
 * {@code VersionHistory} keeps what they held before where snapshots are read, and {@code
 * RemovalCollector} drops what only remembers removals. {@code mode} says what is held for a round,
 * {@code CatchUpState} whether anybody is served.
 */
@NullMarked
package io.osier.datacenter.partition;

import org.jspecify.annotations.NullMarked;
