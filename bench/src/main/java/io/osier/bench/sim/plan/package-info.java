/**
 * What a run is to be, decided before it begins: {@code SimOptions} what was asked for, {@code
 * RunProfile} what a seed makes of it, the {@code Unit}s with their policies, the {@code Fault}s
 * and {@code Feature}s that may take part, the {@code Workload} that clients draw from and what a
 * {@code Sabotage} spoils on purpose. Knows nothing that runs: neither time nor datacenters.
 */
@NullMarked
package io.osier.bench.sim.plan;

import org.jspecify.annotations.NullMarked;
