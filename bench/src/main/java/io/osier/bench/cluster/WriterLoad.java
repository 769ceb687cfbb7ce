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
 * A load that remembers its updates: one thread for each datacenter makes them at a rate, with a
 * limit of updates in flight.
 */
public abstract class WriterLoad implements AutoCloseable {
  /** The most by which a thread that is late makes up for its delay. */
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
   * Starts no thread yet.
   *
   * @param keyspaces all keyspaces to which the load writes
   * @param inFlight the limit of updates in flight of each thread, at least 1
   */
  protected WriterLoad(Set<String> keyspaces, int inFlight) {
    this.keyspaces = Set.copyOf(keyspaces);
    this.inFlight = inFlight;
  }

  /** Makes the updates of one datacenter's thread. Used by this thread alone. */
  protected interface Writer {
    /**
     * Makes one update or none.
     *
     * @param room a semaphore of which one permit was taken; {@link #account} releases it
     * @return nanoseconds until the next one is due
     */
    long next(Semaphore room);
  }

  /**
   * The differences between what a datacenter shows and what was acknowledged.
   *
   * @param missing acknowledged updates that are not there
   * @param surplus updates that are there more often than they were made
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
   * Compares what a datacenter shows with what was acknowledged.
   *
   * @param there all rows of each of the load's keyspaces
   * @param sinceMillis when reading the rows began, by the system's clock; it ends now
   */
  protected abstract Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis);

  /**
   * Returns the load's keyspaces whose objects or elements expire while they are read. Their rows
   * are not compared between datacenters and may be absent: the audit judges each element by its
   * deadline.
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
   * @param writer returns the writer of a datacenter, given its name and client
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

  /** Returns how many clients there are; while they are made, the newest one's number, from 1. */
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
   * Counts an update when it is answered, and releases its permit.
   *
   * @param unknown notes that the update has failed and may nevertheless be done
   * @return completes after the update was noted
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

  /** Returns whether an update that has failed with this error may nevertheless be done. */
  static boolean mayBeDone(Throwable error) {
    Throwable cause = error.getCause() == null ? error : error.getCause();
    return cause instanceof OutcomeUnknownException || !(cause instanceof OsierException);
  }

  /** Returns how many updates were acknowledged so far. */
  public final long done() {
    return done.sum();
  }

  /** Returns how many updates failed or have an unknown outcome. */
  public final long failures() {
    return failures.sum();
  }

  /** Returns the threads that ended by an exception or hang; for after {@link #stop}. */
  public final List<String> broken() {
    return List.copyOf(broken);
  }

  /** Ends the load and waits for the updates in flight. */
  public final void stop() {
    stopping = true;
    workers.join();
  }

  @Override
  public final void close() {
    clients.forEach(OsierClient::close);
  }
}
