/**
 * The persistent B+ tree in which large sets and maps keep their entries: nodes, edits and
 * comparisons that share what is unchanged. It knows keys and bytes of entries, and must not know
 * what they mean.
 */
@NullMarked
package io.osier.crdt.tree;

import org.jspecify.annotations.NullMarked;
