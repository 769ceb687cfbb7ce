/**
 * A partition's objects between memory and disk: the table of objects in memory, packed and
 * unpacked; loading and eviction; large objects by entries; recovery at the start.
 */
@NullMarked
package io.osier.datacenter.store.objects;

import org.jspecify.annotations.NullMarked;
