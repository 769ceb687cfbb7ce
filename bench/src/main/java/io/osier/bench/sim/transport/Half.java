package io.osier.bench.sim.transport;

/** The kind of connections that a run is about: of clients, or of datacenters. */
interface Half {
  void start();

  /** Begins a drawn fault, which ends by itself. */
  void fault(long duration);

  /** No new faults from now on. */
  void heal();

  /** Nothing has been wrong for long: all must be well. */
  void check();

  /** How many requests or frames were carried. */
  long carried();

  /** How many frames were carried in one compressed block with the frame before them. */
  default long carriedTogether() {
    return 0;
  }

  /** How many requests were refused because nobody had logged in. */
  default long refused() {
    return 0;
  }
}
