package io.osier.bench.cluster;

import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A load that keeps account of its updates: one thread for each datacenter makes them at a rate,
 * with so many in flight at most.
 */
public abstract class WriterLoad implements AutoCloseable {
  /** A thread that is further behind than this does not make up for it. */
  private static final long BEHIND_MAX_NANOS = 1_000_000_000;

  private final Set<String> keyspaces;
  private final int inFlight;
  private final List<OsierClient> clients = new ArrayList<>();
  private final LongAdder done = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final Queue<String> broken = new ConcurrentLinkedQueue<>();
  private final Workers workers = new Workers(broken::add);
  private volatile boolean stopping;

  /**
   * Nothing runs yet.
   *
   * @param keyspaces all to which it writes
   * @param inFlight of each thread, at least 1
   */
  protected WriterLoad(Set<String> keyspaces, int inFlight) {
    this.keyspaces = Set.copyOf(keyspaces);
    this.inFlight = inFlight;
  }

  /** What the thread of one datacenter does. Used by this thread alone. */
  protected interface Writer {
    /**
     * Makes one update, or none.
     *
     * @param room has one permit for it, which {@link #account} gives back
     * @return nanoseconds until the next one is due
     */
    long next(Semaphore room);
  }

  /**
   * What a datacenter shows against what was acknowledged.
   *
   * @param missing acknowledged updates that are not there
   * @param surplus updates that are there more often than they were made: counted twice, or never
   *     asked for
   */
  public record Audit(long missing, long surplus) {
    public static final Audit RIGHT = new Audit(0, 0);

    /**
     * Returns the audit of objects that a datacenter shows and that the load may never have made.
     */
    public static Audit strangers(Iterable<String> shown, Set<String> made) {
      long surplus = 0;
      for (String one : shown) {
        surplus += made.contains(one) ? 0 : 1;
      }
      return new Audit(0, surplus);
    }

    /** Returns the sums of two audits. */
    public Audit plus(Audit other) {
      return new Audit(missing + other.missing, surplus + other.surplus);
    }
  }

  /**
   * Holds what a datacenter shows against what was acknowledged.
   *
   * @param there all rows of each of the load's keyspaces
   * @param sinceMillis when they began to be read, by the system's clock: the end is now
   */
  protected abstract Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis);

  /**
   * Its keyspaces of which parts expire while they are read, or all of them: their rows are not
   * held against each other, and need not be there; the audit judges each part by its deadline.
   */
  protected Set<String> expiring() {
    return Set.of();
  }

  final Set<String> keyspaces() {
    return keyspaces;
  }

  /**
   * Starts the threads, as the last thing that a constructor does.
   *
   * @param writer makes what the thread of a datacenter does with its client
   */
  protected final void start(
      List<String> dcs,
      Function<String, OsierClient> connect,
      BiFunction<String, OsierClient, Writer> writer) {
    Map<String, Writer> writers = new LinkedHashMap<>();
    for (String dc : dcs) {
      OsierClient client = connect.apply(dc);
      clients.add(client);
      writers.put(dc, writer.apply(dc, client));
    }
    writers.forEach((dc, one) -> workers.start("load-" + dc, () -> run(one)));
  }

  /** How many clients there are; while they are made, the number of the newest, from 1. */
  protected final int clients() {
    return clients.size();
  }

  private void run(Writer writer) {
    Semaphore room = new Semaphore(inFlight);
    long next = System.nanoTime();
    while (!stopping) {
      room.acquireUninterruptibly();
      long pause = writer.next(room);
      next = Math.max(next + pause, System.nanoTime() - BEHIND_MAX_NANOS);
      LockSupport.parkNanos(next - System.nanoTime());
    }
    room.acquireUninterruptibly(inFlight);
  }

  /**
   * Counts an update when it is answered, and gives its permit back.
   *
   * @param unknown notes that it has failed, and may be done nevertheless
   * @return ends after the notes
   */
  protected final CompletableFuture<?> account(
      CompletableFuture<?> update, Semaphore room, Runnable acknowledged, Runnable unknown) {
    return update.whenComplete(
        (result, error) -> {
          if (error == null) {
            acknowledged.run();
            done.increment();
          } else {
            failures.increment();
            if (mayBeDone(error)) {
              unknown.run();
            }
          }
          room.release();
        });
  }

  /** Whether an update whose future has ended with this error may be done nevertheless. */
  static boolean mayBeDone(Throwable error) {
    Throwable cause = error.getCause() == null ? error : error.getCause();
    return cause instanceof OutcomeUnknownException || !(cause instanceof OsierException);
  }

  /** Updates that were acknowledged so far. */
  public final long done() {
    return done.sum();
  }

  /** Those that failed, or whose outcome is unknown. */
  public final long failures() {
    return failures.sum();
  }

  /** What ended before it was to, or did not end; for when the load was stopped. */
  public final List<String> broken() {
    return List.copyOf(broken);
  }

  /** Ends the load and waits for what is open. */
  public final void stop() {
    stopping = true;
    workers.join();
  }

  @Override
  public final void close() {
    clients.forEach(OsierClient::close);
  }
}
