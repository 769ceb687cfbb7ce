package io.osier.bench.client;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Watchers of a keyspace that note what they are told, in whatever tally is the present one. */
final class Watchers implements AutoCloseable {
  private static final long BEGIN_SECONDS = 30;

  private final Map<Key, Integer> numbers;
  private final List<Watch.Watching> all = new ArrayList<>();
  private volatile Tally tally;

  private Watchers(Map<Key, Integer> numbers) {
    this.numbers = numbers;
    this.tally = new Tally(numbers.size());
  }

  /**
   * One watcher of everything, which has begun.
   *
   * @param numbers the keys that are written, with their numbers
   */
  static Watchers ofEverything(Keyspace keyspace, Map<Key, Integer> numbers)
      throws InterruptedException {
    Watchers watchers = new Watchers(numbers);
    watchers.all.add(keyspace.changes().listen(watchers::told));
    return watchers.begun();
  }

  /** A watcher for each of some keys; as the other one. */
  static Watchers ofKeys(Keyspace keyspace, List<String> keys, Map<Key, Integer> numbers)
      throws InterruptedException {
    Watchers watchers = new Watchers(numbers);
    for (String key : keys) {
      watchers.all.add(keyspace.watch(key).listen(watchers::told));
    }
    return watchers.begun();
  }

  private Watchers begun() throws InterruptedException {
    try {
      for (Watch.Watching watching : all) {
        watching.begun().get(BEGIN_SECONDS, TimeUnit.SECONDS);
      }
      return this;
    } catch (ExecutionException | TimeoutException | CancellationException e) {
      close();
      throw new OsierException(ErrorCode.UNAVAILABLE, "a watcher does not begin: " + e, e);
    }
  }

  private void told(Changes told) {
    long now = System.nanoTime();
    Tally present = tally;
    for (Changes.Change change : told.changes()) {
      Integer number = numbers.get(change.key());
      if (number != null) {
        present.told(number, now);
      }
    }
  }

  /** From now on what they are told is noted there. */
  void into(Tally next) {
    tally = next;
  }

  /** Why one of them has ended; empty while all watch. */
  Optional<String> cutOff() {
    for (Watch.Watching watching : all) {
      if (watching.ended().isDone()) {
        try {
          watching.ended().join();
          return Optional.of("a watcher has ended");
        } catch (CompletionException | CancellationException e) {
          Throwable why = e.getCause() == null ? e : e.getCause();
          String code = why instanceof OsierException osier ? osier.code() + ": " : "";
          return Optional.of("a watcher was cut off: " + code + why.getMessage());
        }
      }
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    all.forEach(Watch.Watching::close);
  }
}
