/**
 * Defines a replica's state of one object ({@code CrdtState}): its type's store, its causal context
 * and its deadlines. Prepares updates against it, joins them to it, and takes large objects apart
 * into entries. It does no I/O and must not know partitions.
 */
@NullMarked
package io.osier.crdt.state;

import org.jspecify.annotations.NullMarked;
