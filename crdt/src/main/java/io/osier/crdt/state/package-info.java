/**
 * A replica's state of one object ({@code CrdtState}): its type's store, its causal context and its
 * deadlines, how updates are prepared against it and joined to it, and how a large one is taken
 * apart into entries. It does no I/O and knows no partition.
 */
@NullMarked
package io.osier.crdt.state;

import org.jspecify.annotations.NullMarked;
