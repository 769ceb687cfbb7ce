/**
 * The interfaces between a partition and a store ({@code ObjectStore}, {@code VersionStore}, {@code
 * Journal}), and the group commit that all partitions share. The packages below implement them;
 * nothing here knows RocksDB.
 */
@NullMarked
package io.osier.datacenter.store;

import org.jspecify.annotations.NullMarked;
