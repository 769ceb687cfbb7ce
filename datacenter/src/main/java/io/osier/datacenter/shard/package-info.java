/**
 * The keyspaces and partitions of one datacenter as they run: opens and closes them, runs the
 * store's threads, cuts batches into slices, and checks whether peers let this datacenter take
 * updates. Decides nothing about replication.
 */
@NullMarked
package io.osier.datacenter.shard;

import org.jspecify.annotations.NullMarked;
