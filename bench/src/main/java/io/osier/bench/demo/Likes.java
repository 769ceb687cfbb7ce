package io.osier.bench.demo;

import io.osier.bench.cluster.Tally;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.bench.cluster.Zipf;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.util.Map;
import java.util.SplittableRandom;

/** Likes and views of posts: counters, of which few get most of the increments. */
final class Likes extends Kind {
  private static final int COUNTERS = 10_000;

  private final Tally tally = new Tally();
  private final Zipf zipf = new Zipf(COUNTERS);

  Likes() {
    super(
        "likes",
        "10s",
        3,
        "the hot counters travel once a window; two of five updates are of counters that are"
            + " counted less than once in it");
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    return calls -> {
      int rank = zipf.next(random);
      String counter = (rank % 2 == 0 ? "views:" : "likes:") + rank / 2;
      calls.update(
          space.counter(counter).incrementAsync(1),
          tally.acknowledged(counter, 1),
          tally.unknown(counter, 1));
    };
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    return tally.audit(counter -> Tally.count(there.get(counter)), there.keySet());
  }
}
