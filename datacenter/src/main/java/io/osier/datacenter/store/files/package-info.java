/**
 * The files of a store: settings of RocksDB, checksums, damage and salvage, and the comparison of
 * two copies. It knows files, not replication.
 */
@NullMarked
package io.osier.datacenter.store.files;

import org.jspecify.annotations.NullMarked;
