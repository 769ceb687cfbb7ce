package io.osier.datacenter.partition.machine;

/**
 * The time of an input.
 *
 * @param nanos a monotonic clock, for deadlines and measured times
 * @param millis milliseconds since 1970 that never jump (see {@code SlewedClock}), for timestamps
 */
public record Now(long nanos, long millis) {}
