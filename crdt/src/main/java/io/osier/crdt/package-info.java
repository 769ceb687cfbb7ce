/**
 * Defines the replicated data types. Each is one immutable class of pure functions; an operation is
 * the smallest delta, and applying one, a joined group of them or a whole state is the same {@code
 * join}.
 */
@NullMarked
package io.osier.crdt;

import org.jspecify.annotations.NullMarked;
