/**
 * The deterministic simulator: many datacenters' partitions in one thread, a virtual clock, a
 * seeded network with faults, random clients, and checks from the definitions.
 *
 * <p>{@code Scheduler} is the virtual time, {@code SimNetwork} the links ({@code SimLink}), {@code
 * SimConnection} and {@code SimChannel} what TCP is to production's transport, {@code SimSockets}
 * the transport's world, {@code SimDc} and {@code SimNode} the datacenters and their partitions,
 * {@code SimClient} a session as it is defined, and {@code SimTransactor} one with transactions.
 * {@code SimApp} is a client of production, for half of the sessions: {@code SimWay} is its way to
 * a datacenter, {@code AppWay} the one over bytes, {@code SimInside} the one within its own
 * process, and {@code SimSession} and {@code SimTransactions} hold what it tells its callers
 * against what the partitions did. {@code Workload} what it does, {@code FaultPlan} what goes
 * wrong; each {@code …Check} checks one property; {@code Simulation} puts one run together: {@code
 * RunProfile} is what its seed makes of it, {@code Feature} what may take part, {@code Callers} who
 * works, {@code SimMembers} who knows whom, and {@code Losses} what crashes took.
 */
@NullMarked
package io.osier.bench.sim;

import org.jspecify.annotations.NullMarked;
