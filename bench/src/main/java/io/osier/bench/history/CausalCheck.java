package io.osier.bench.history;

/**
 * Causal consistency by the definition of Bouajjani, Enea, Guerraoui and Hamza, "On Verifying
 * Causal Consistency" (2017), for transactions, of a history whose causal order has no cycle:
 * nobody reads a value of a key although another write of it lies causally between, nor "never
 * written" although a write of the key lies causally before.
 */
final class CausalCheck {
  private final Causality causality;

  CausalCheck(Causality causality) {
    this.causality = causality;
  }

  void run() throws Inconsistency {
    for (int t = 0; t < causality.size(); t++) {
      for (Causality.Seen read : causality.seen(t)) {
        // If one of a session lies between, so does the last one before t.
        for (int other : causality.lastWritersBefore(t, read.op().key())) {
          boolean between = read.from() < 0 || causality.isBefore(read.from(), other);
          if (other != read.from() && between) {
            throw new Inconsistency(
                causality.name(t)
                    + " read "
                    + read.op()
                    + " although it comes after another write: "
                    + causality.named(causality.path(other, t)));
          }
        }
      }
    }
  }
}
