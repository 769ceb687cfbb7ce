/** A store of versions and entries in memory, without a disk. */
@NullMarked
package io.osier.datacenter.store.memory;

import org.jspecify.annotations.NullMarked;
