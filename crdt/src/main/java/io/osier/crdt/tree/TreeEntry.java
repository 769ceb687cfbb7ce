package io.osier.crdt.tree;

/**
 * A key and its cell, which is the content of the entry, as walks over {@link EntryTree} return
 * them.
 */
public record TreeEntry<K, V>(K key, V cell) {}
