package io.osier.bench.sim.plan;

import java.util.Set;

/**
 * What a simulation is made of; with the seed it decides everything.
 *
 * @param dcs how many datacenters, 2 to 10
 * @param faults what may go wrong
 * @param features what takes part in each seed; what the seed draws if this is empty
 * @param seconds virtual seconds of load
 * @param paired a causal and a session keyspace with the same policy and nothing else, to compare
 *     them
 * @param sabotage spoils a run on purpose: for tests of the checks
 */
public record SimOptions(
    int dcs,
    Set<Fault> faults,
    Set<Feature> features,
    int seconds,
    boolean paired,
    Sabotage sabotage) {
  public SimOptions(int dcs, Set<Fault> faults, int seconds) {
    this(dcs, faults, seconds, false, Sabotage.NONE);
  }

  /** With the features that the seed draws. */
  public SimOptions(int dcs, Set<Fault> faults, int seconds, boolean paired, Sabotage sabotage) {
    this(dcs, faults, Set.of(), seconds, paired, sabotage);
  }
}
