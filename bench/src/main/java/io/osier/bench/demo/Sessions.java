package io.osier.bench.demo;

import io.osier.bench.cluster.Tally;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/** Web sessions: maps whose time to live of half an hour each request renews. */
final class Sessions extends Kind {
  /** Open sessions at each datacenter; at 4,000 operations a second each has a request a second. */
  private static final int OPEN = 130;

  private static final int REQUESTS = 40;
  private static final Duration TIME_TO_LIVE = Duration.ofMinutes(30);
  private static final FieldId PAGE = new FieldId("page", CrdtType.LWW_REGISTER);
  private static final FieldId COUNT = new FieldId("requests", CrdtType.PN_COUNTER);

  private final Tally requests = new Tally();
  private final LastWrites pages = new LastWrites();

  Sessions() {
    super(
        "sessions",
        "2s",
        1,
        "two requests of a session come within its window: its last page and its deadline travel"
            + " once");
  }

  private static final class Visit extends Open {
    final String key;

    Visit(String key) {
      this.key = key;
    }
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    Open.Pool<Visit> open =
        new Open.Pool<>(OPEN, REQUESTS, n -> new Visit("session:" + number + ":" + n));
    return calls -> {
      Visit visit = open.take(() -> random.nextInt(OPEN));
      Value page = Value.of("/articles/" + random.nextInt(1_000) + "?step=" + visit.updates());
      Runnable counted = requests.acknowledged(visit.key, 1);
      Runnable unknown = requests.unknown(visit.key, 1);
      long calledNanos = System.nanoTime();
      visit.update(
          calls,
          space
              .expiring(TIME_TO_LIVE)
              .map(visit.key)
              .updateAsync(
                  List.of(
                      new Operation.FieldUpdate(PAGE, new Operation.Assign(page)),
                      new Operation.FieldUpdate(COUNT, new Operation.Increment(1)))),
          () -> {
            counted.run();
            pages.acknowledged(visit.key, page, calledNanos, System.nanoTime());
          },
          () -> {
            unknown.run();
            pages.unknown(visit.key, page);
          });
    };
  }

  private static Optional<Reading> field(Map<String, Reading> there, String key, FieldId field) {
    return there.get(key) instanceof Reading.Fields map
        ? Optional.ofNullable(map.fields().get(field))
        : Optional.empty();
  }

  /** Compares the sessions; none has expired, since the run is much shorter than half an hour. */
  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    Audit counted =
        requests.audit(
            key -> field(there, key, COUNT).map(Tally::count).orElse(0L), there.keySet());
    Audit seen =
        pages.audit(
            key ->
                field(there, key, PAGE)
                    .flatMap(
                        r -> r instanceof Reading.Single page ? page.value() : Optional.empty()),
            Set.of());
    return counted.plus(seen);
  }
}
