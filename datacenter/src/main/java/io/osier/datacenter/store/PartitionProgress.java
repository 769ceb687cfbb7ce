package io.osier.datacenter.store;

import io.osier.propagation.host.Progress;

/**
 * How far a partition has come.
 *
 * @param committed its last commit number
 * @param timestamp its hybrid clock's last timestamp
 * @param others how far it has come with what others ship
 * @param shipped every other datacenter has its updates up to this commit number
 */
public record PartitionProgress(long committed, long timestamp, Progress others, long shipped) {}
