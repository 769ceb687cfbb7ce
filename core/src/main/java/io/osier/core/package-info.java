/**
 * The types that every other module uses: replicas, dots, version vectors, causal contexts, keys,
 * values, keyspace policies and errors. Nothing here does I/O or reads a clock.
 */
@NullMarked
package io.osier.core;

import org.jspecify.annotations.NullMarked;
