/**
 * RocksDB: the one database of a datacenter, its records, snapshots and their leases, and the
 * compaction of ranges of tombstones. It knows keys and bytes, not objects.
 */
@NullMarked
package io.osier.datacenter.store.rocks;

import org.jspecify.annotations.NullMarked;
