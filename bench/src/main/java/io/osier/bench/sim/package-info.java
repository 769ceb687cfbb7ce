/**
 * The deterministic simulator: many datacenters' partitions in one thread, a virtual clock, a
 * seeded network with faults, random clients, and checks from the definitions.
 */
package io.osier.bench.sim;
