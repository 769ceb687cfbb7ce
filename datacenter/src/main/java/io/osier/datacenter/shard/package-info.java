/**
 * The keyspaces and partitions of one datacenter as they run: opening and closing them, their
 * stores' threads, slices of batches, checks that peers let this datacenter take updates. It
 * decides nothing about replication.
 */
@NullMarked
package io.osier.datacenter.shard;

import org.jspecify.annotations.NullMarked;
