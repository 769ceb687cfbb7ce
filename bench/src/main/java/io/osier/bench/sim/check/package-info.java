/**
 * Properties, each checked from its definition over what it is told: order, sessions, conditions,
 * transactions, exactly once, convergence, sizes of frames. Decides what must never be, and throws
 * a {@code Violation}. Knows no run and no datacenter: checks that look on while datacenters run
 * are in the package above.
 */
@NullMarked
package io.osier.bench.sim.check;

import org.jspecify.annotations.NullMarked;
