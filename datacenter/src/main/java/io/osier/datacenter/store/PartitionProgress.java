package io.osier.datacenter.store;

import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ReplicationProgress;

/**
 * How far a partition has come.
 *
 * @param committed its last commit number
 * @param timestamp its hybrid clock's last timestamp
 * @param others how far it has come with what others ship
 * @param shipped every other datacenter has its updates up to this commit number
 * @param caughtUp whether this incarnation has once had what it needs to serve, and has compared
 *     with all peers what a former one may have lost: until then each start begins with that again
 * @param unremembered whether removals may be forgotten, here or elsewhere
 */
public record PartitionProgress(
    long committed,
    long timestamp,
    ReplicationProgress others,
    long shipped,
    boolean caughtUp,
    Forgetting unremembered) {}
