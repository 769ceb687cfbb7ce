/**
 * The deterministic simulator: many datacenters' partitions in one thread, a virtual clock, a
 * seeded network with faults, random clients, and checks from the definitions.
 *
 * <p>{@code Simulation} puts one run together from {@code plan}, {@code world}, {@code node},
 * {@code app}, {@code load}, {@code program} and {@code check}, and {@code SimRun} takes it to its
 * end. Here are who knows whom ({@code SimMembers}), what goes wrong ({@code FaultPlan}), and the
 * checks that look at datacenters as they run ({@code FlowCheck}, {@code SlaCheck}, {@code
 * ReportCheck}); {@code SimEnd} waits until all is quiet and checks what is left.
 */
@NullMarked
package io.osier.bench.sim;

import org.jspecify.annotations.NullMarked;
