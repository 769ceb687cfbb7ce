package io.osier.datacenter.store;

import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ReplicationProgress;

/**
 * A partition's progress.
 *
 * @param committed its last commit number
 * @param timestamp its hybrid clock's last timestamp
 * @param others its progress in the streams of other datacenters
 * @param shipped the commit number up to which every other datacenter has its updates
 * @param caughtUp whether this incarnation has once had the data it needs to serve, and has
 *     compared with all peers what a former incarnation may have lost; until then each start begins
 *     with that
 * @param unremembered which removals may be forgotten, here or elsewhere
 */
public record PartitionProgress(
    long committed,
    long timestamp,
    ReplicationProgress others,
    long shipped,
    boolean caughtUp,
    Forgetting unremembered) {}
