/**
 * The data types: one file a type, each a store of dots or entries with pure joins, and {@code
 * TypeRegistry}, which finds a type's rules by its number. This package knows nothing of an
 * object's deadline, partitions, disks or a wire protocol.
 */
@NullMarked
package io.osier.crdt.types;

import org.jspecify.annotations.NullMarked;
