/** Micro-benchmarks, run by {@code osier jmh}. */
package io.osier.bench.jmh;
