package io.osier.bench.history;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Convergence, as the "last writer wins" of transactional causal consistency has it: there is one
 * order of all transactions which extends causality, and every read shows the last in this order of
 * the writes that are causally before it. Who read one write although another lay before it has
 * seen the other lose: it comes earlier in the order. So there is such an order if and only if
 * causality and these losses together have no cycle.
 */
final class ArbitrationCheck {
  private final Causality causality;

  ArbitrationCheck(Causality causality) {
    this.causality = causality;
  }

  void run() throws Inconsistency {
    List<Set<Integer>> before = new ArrayList<>();
    for (int t = 0; t < causality.size(); t++) {
      before.add(new HashSet<>(causality.direct().get(t)));
    }
    for (int t = 0; t < causality.size(); t++) {
      for (Causality.Seen read : causality.seen(t)) {
        // The others of a session are before its last one.
        for (int loser : causality.lastWritersBefore(t, read.op().key())) {
          if (loser != read.from()) {
            before.get(read.from()).add(loser);
          }
        }
      }
    }
    List<Integer> order = Cycles.order(before);
    if (order.size() < causality.size()) {
      throw new Inconsistency(
          "each of these comes before the next, or was seen to lose to it, and so the last before the"
              + " first: "
              + causality.named(Cycles.shortest(before, order)));
    }
  }
}
