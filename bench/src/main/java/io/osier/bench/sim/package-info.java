/**
 * The deterministic simulator: many datacenters' partitions in one thread, a virtual clock, a
 * seeded network with faults, random clients, and checks from the definitions.
 *
 * <p>{@code Scheduler} is the virtual time, {@code SimNetwork} the links, {@code SimConnection} and
 * {@code SimChannel} what TCP is to production's transport, {@code SimSockets} the transport's
 * world, {@code SimDc} and {@code SimNode} the datacenters and their partitions, {@code SimClient}
 * a session, {@code Workload} what it does, {@code FaultPlan} what goes wrong; each {@code …Check}
 * checks one property; {@code Simulation} puts one run together.
 */
package io.osier.bench.sim;
