/**
 * What a partition asks of a store ({@code ObjectStore}, {@code VersionStore}, {@code Journal}),
 * and the group commit that all partitions share. How it is done is in the packages below; nothing
 * here knows RocksDB.
 */
@NullMarked
package io.osier.datacenter.store;

import org.jspecify.annotations.NullMarked;
