/**
 * The words every other module speaks: replicas, dots, version vectors, causal contexts, clocks,
 * keys, values, keyspace policies and errors. Nothing here does I/O or reads a clock.
 */
package io.osier.core;
