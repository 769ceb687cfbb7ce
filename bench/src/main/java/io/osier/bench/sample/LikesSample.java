package io.osier.bench.sample;

import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Watch;
import io.osier.proxy.values.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import picocli.CommandLine.Command;

/** Counts likes at eu, and shows the numbers live on a page at us. */
@Command(
    name = "likes",
    mixinStandardHelpOptions = true,
    description = "A like button, and a page elsewhere that hears of each change.")
final class LikesSample implements Callable<Integer> {
  private static final String PREFIX = "likes:";
  private static final int READERS = 500;

  @Override
  public Integer call() {
    try (TwoDatacenters dcs = new TwoDatacenters("site { sla = 200ms }", Values.plain())) {
      Keyspace button = dcs.eu().keyspace("site");
      Keyspace page = dcs.us().keyspace("site");
      Map<String, Long> shown = new ConcurrentSkipListMap<>();

      // What is there, and then each change, without a gap.
      Watch.Watching live =
          page.watchPrefix(PREFIX).fromTheBeginning().listen(told -> show(told, page, shown));
      live.begun().join();

      System.out.println(READERS + " readers at eu like two articles");
      List<CompletableFuture<Void>> clicks = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        clicks.add(button.counter(PREFIX + (i % 5 == 0 ? "tides" : "moons")).incrementAsync(1));
      }
      clicks.forEach(CompletableFuture::join);
      Map<String, Long> all = Map.of("moons", READERS * 4L / 5, "tides", READERS / 5L);
      TwoDatacenters.until("the page at us shows " + all, () -> shown.equals(all));

      System.out.println("A reader at eu takes a like back");
      button.counter(PREFIX + "tides").increment(-1);
      TwoDatacenters.until(
          "the page shows it", () -> Objects.equals(shown.get("tides"), READERS / 5L - 1));
      live.close();
      live.ended().join();
      return 0;
    }
  }

  /** A change names the key only; the number of likes is read. */
  private static void show(Changes told, Keyspace page, Map<String, Long> shown) {
    for (Changes.Change change : told.changes()) {
      String key = change.key().toString();
      shown.put(key.substring(PREFIX.length()), page.counter(key).get());
    }
  }
}
