/**
 * The types: one file a type, each a store of dots or entries with pure joins, and {@code
 * TypeRegistry}, which finds a type's rules by its number. It knows no deadline of an object, no
 * partition, no disk and no wire protocol.
 */
@NullMarked
package io.osier.crdt.types;

import org.jspecify.annotations.NullMarked;
