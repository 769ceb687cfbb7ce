package io.osier.bench.sample;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.FormatMethod;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Workers;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A sample in a causal keyspace under faults: sessions act at each datacenter, and readers check
 * snapshots. {@code osier bench smoke} runs the samples.
 */
public abstract class SampleUnderFaults implements AutoCloseable {
  private static final int SESSIONS = 2;
  private static final long READ_NANOS = 5_000_000;

  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong checks = new AtomicLong();
  private final Map<String, OsierClient> clients = new LinkedHashMap<>();
  private final Workers workers = new Workers(violations::add);
  private volatile boolean running = true;

  SampleUnderFaults() {}

  public abstract String keyspace();

  /** Writes the objects that must be there before the first session. */
  abstract void prepare(Keyspace keyspace);

  /** Makes one transaction or request; may throw the client library's exceptions. */
  abstract void act(Keyspace keyspace, String dc, Random random);

  /** Checks everything on one snapshot, and reports violations by {@link #violated}. */
  abstract void check(Keyspace keyspace, String dc);

  abstract void checkEnd(Keyspace keyspace, String dc);

  /** Returns how often each checked action was done; none may be 0 at the end. */
  abstract List<AtomicLong> counts();

  /** Returns what was done, for the last line. */
  abstract String summary();

  @FormatMethod
  final void violated(String format, Object... parameters) {
    violations.add(String.format(Locale.ROOT, format, parameters));
  }

  /** Returns the keyspace's configuration. */
  public final String keyspaces() {
    return "    " + keyspace() + " { consistency = causal, sla = 500ms }\n";
  }

  /**
   * Starts the sessions and readers on a cluster that has the keyspace. Called once.
   *
   * @param seed the seed of the sessions' draws
   * @param pauseNanos how long each waits after an action, at least 0
   */
  public final void begin(LocalCluster cluster, long seed, long pauseNanos) {
    for (String dc : cluster.dcs()) {
      clients.put(dc, cluster.client(dc));
    }
    prepare(at(cluster.dcs().getFirst()));
    int started = 0;
    for (String dc : cluster.dcs()) {
      for (int s = 0; s < SESSIONS; s++) {
        Keyspace at = at(dc);
        Random random = new Random(seed * 31 + started++);
        workers.start("session " + dc + "-" + s, () -> acting(at, dc, random, pauseNanos));
      }
      Keyspace at = at(dc);
      workers.start("reader " + dc, () -> reading(at, dc, Math.max(READ_NANOS, pauseNanos)));
    }
  }

  /** Ends the sessions and readers. */
  public final void stop() {
    running = false;
    workers.join();
    if (checks.get() == 0) {
      violated("nothing was checked while it ran");
    }
    if (counts().stream().anyMatch(count -> count.get() == 0)) {
      violated("not everything was done that is checked: %s", summary());
    }
  }

  /** Checks each datacenter at the end, when all are equal. */
  public final void checkEnd() {
    for (String dc : clients.keySet()) {
      check(at(dc), dc);
      checkEnd(at(dc), dc);
    }
  }

  @Override
  public final void close() {
    running = false;
    clients.values().forEach(OsierClient::close);
  }

  public final List<String> firstViolations() {
    return violations.stream().limit(10).toList();
  }

  /** Returns what was done, and the number of violations. */
  public final String report() {
    return String.format(
        Locale.ROOT,
        "%s; %d done, %d refused, %d of unknown outcome; %d snapshots checked, %d violations",
        summary(),
        done.get(),
        refused.get(),
        unknown.get(),
        checks.get(),
        violations.size());
  }

  private Keyspace at(String dc) {
    return requireNonNull(clients.get(dc)).session().keyspace(keyspace());
  }

  private void acting(Keyspace keyspace, String dc, Random random, long pauseNanos) {
    while (running) {
      try {
        act(keyspace, dc, random);
        done.incrementAndGet();
        LockSupport.parkNanos(pauseNanos);
      } catch (OutcomeUnknownException e) {
        unknown.incrementAndGet();
      } catch (OsierException e) {
        refused.incrementAndGet();
        if (!e.code().retryable() && e.code() != ErrorCode.TRANSACTION_ENDED) {
          violated("a session at %s was refused: %s: %s", dc, e.code(), e.reason());
        }
        LockSupport.parkNanos(20_000_000);
      }
    }
  }

  private void reading(Keyspace keyspace, String dc, long pauseNanos) {
    while (running) {
      try {
        check(keyspace, dc);
        checks.incrementAndGet();
      } catch (OsierException e) {
        LockSupport.parkNanos(20_000_000); // while its datacenter is away
      }
      LockSupport.parkNanos(pauseNanos);
    }
  }
}
