/** Micro-benchmarks, run by {@code osier jmh}. */
@NullMarked
package io.osier.bench.jmh;

import org.jspecify.annotations.NullMarked;
