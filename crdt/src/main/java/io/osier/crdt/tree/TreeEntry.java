package io.osier.crdt.tree;

/** A key and its cell, as walks over {@link EntryTree} and what stands behind it give them. */
public record TreeEntry<K, V>(K key, V cell) {}
