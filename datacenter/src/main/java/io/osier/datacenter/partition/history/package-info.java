/**
 * Former values of objects, kept while snapshots may read them. This package decides what is still
 * needed; it reads no disk.
 */
@NullMarked
package io.osier.datacenter.partition.history;

import org.jspecify.annotations.NullMarked;
