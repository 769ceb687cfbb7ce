package io.osier.crdt;

/** A key and its cell, as walks over {@link CellMap} and what stands behind it give them. */
record CellEntry<K, V>(K key, V cell) {}
