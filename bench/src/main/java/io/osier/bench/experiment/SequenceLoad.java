package io.osier.bench.experiment;

import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.experiment.CommandSequence.Timed;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Sends the {@linkplain CommandSequence command sequence} to the datacenters of a cluster in turn,
 * command by command, at an even pace that does not wait for answers, and then reads at every
 * datacenter until all show what they must. Latencies count from when a command was due. Used by
 * one thread.
 */
final class SequenceLoad implements AutoCloseable {
  static final CrdtType TYPE = CrdtType.LWW_SET_ADD_BIAS;

  /** More are not sent; what is due waits, which its latency counts. */
  private static final int IN_FLIGHT = 2_000;

  /** After the datacenters are equal the last acknowledgements and status reports go around. */
  static final long SETTLE_NANOS = 500_000_000;

  /** A connection may have been lost in the run before, on a machine that is too slow. */
  private static final Duration CONNECT_MAX = Duration.ofSeconds(30);

  private static final Duration EQUAL_MAX = Duration.ofMinutes(1);
  private static final long POLL_NANOS = 5_000_000;
  private static final int PAGE = 10_000;

  /**
   * What a run did.
   *
   * @param operations acknowledged; all of them, or the run fails
   * @param seconds from the first command to the last acknowledgement
   * @param latencyMicros of each command since it was due
   * @param equalSeconds from the last acknowledgement until every datacenter was seen to be right
   */
  record Outcome(long operations, double seconds, Histogram latencyMicros, double equalSeconds) {}

  private final LocalCluster cluster;
  private final List<OsierClient> clients = new ArrayList<>();

  SequenceLoad(LocalCluster cluster) {
    this.cluster = cluster;
    // Each command is to be done where it is sent, and nowhere else.
    cluster.dcs().forEach(dc -> clients.add(cluster.only(dc)));
  }

  /**
   * Runs.
   *
   * @param run a number that is larger in each run of a keyspace
   * @throws OsierException UNAVAILABLE if a command fails; INTERNAL if the datacenters do not show
   *     within a minute what they must
   */
  Outcome run(String keyspace, int run, int times, int perSecond) throws InterruptedException {
    clients.forEach(client -> client.awaitConnected(CONNECT_MAX));
    List<Keyspace> sessions =
        clients.stream().map(client -> client.session().keyspace(keyspace)).toList();
    List<Timed> plan = CommandSequence.plan(run, times, perSecond);
    CountDownLatch inserted =
        new CountDownLatch((int) plan.stream().filter(t -> !t.command().isRemoval()).count());
    ConcurrentHistogram latency = new ConcurrentHistogram(3_600_000_000L, 3);
    LongAdder failures = new LongAdder();
    Semaphore room = new Semaphore(IN_FLIGHT);
    long began = System.nanoTime();
    for (int i = 0; i < plan.size(); i++) {
      Timed timed = plan.get(i);
      long due = began + timed.atNanos();
      awaitTime(due);
      if (timed.last()) {
        inserted.await(); // a removal must be later than what it removes
      }
      room.acquire();
      var unused =
          sessions
              .get(i % sessions.size())
              .updateAsync(Key.of(timed.command().object()), TYPE, timed.command().operation())
              .whenComplete(
                  (done, error) -> {
                    latency.recordValue(Math.max(0, System.nanoTime() - due) / 1_000);
                    if (error != null) {
                      failures.increment();
                    }
                    if (!timed.command().isRemoval()) {
                      inserted.countDown();
                    }
                    room.release();
                  });
    }
    room.acquire(IN_FLIGHT);
    long ended = System.nanoTime();
    if (failures.sum() > 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          failures.sum() + " of " + plan.size() + " commands failed in " + keyspace);
    }
    double equal = awaitEqual(sessions, run, ended);
    return new Outcome(plan.size(), (ended - began) / 1e9, latency, equal);
  }

  private static void awaitTime(long nanos) {
    long left = nanos - System.nanoTime();
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = nanos - System.nanoTime();
    }
  }

  /** Reads everything at each datacenter until it is right; seconds since the load ended. */
  private double awaitEqual(List<Keyspace> sessions, int run, long sinceNanos) {
    Map<String, Set<Value>> expected = CommandSequence.expected(run);
    String from = CommandSequence.prefix(run);
    for (int i = 0; i < clients.size(); i++) {
      Keyspace session = sessions.get(i);
      while (!shown(session, from).equals(expected)) {
        if (System.nanoTime() - sinceNanos > EQUAL_MAX.toNanos()) {
          throw new OsierException(
              ErrorCode.INTERNAL,
              cluster.dcs().get(i)
                  + " does not show in "
                  + session.name()
                  + " what it must, a minute after the last command; "
                  + difference(expected, shown(session, from)));
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
    return (System.nanoTime() - sinceNanos) / 1e9;
  }

  /** How many sets differ, and the first one, for a message. */
  private static String difference(
      Map<String, Set<Value>> expected, Map<String, Set<Value>> shown) {
    Set<String> different = new TreeSet<>(expected.keySet());
    different.addAll(shown.keySet());
    different.removeIf(object -> Objects.equals(expected.get(object), shown.get(object)));
    String first = different.isEmpty() ? "" : different.iterator().next();
    return String.format(
        Locale.ROOT,
        "%d sets differ; %s is %s instead of %s",
        different.size(),
        first,
        shown.get(first),
        expected.get(first));
  }

  /** All sets from a name on; runs before are before it in order. */
  private static Map<String, Set<Value>> shown(Keyspace keyspace, String from) {
    Map<String, Set<Value>> shown = new TreeMap<>();
    Optional<Key> next = Optional.of(Key.of(from));
    while (next.isPresent()) {
      Keyspace.Page page = keyspace.scan(next, Optional.of(TYPE), new Query.Whole(), PAGE);
      for (Keyspace.Row row : page.rows()) {
        shown.put(row.key().toString(), new TreeSet<>(((Reading.Many) row.value()).values()));
      }
      next = page.next();
    }
    return shown;
  }

  @Override
  public void close() {
    clients.forEach(OsierClient::close);
  }
}
