package io.osier.datacenter.shard.agent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the order of one sender's requests although some must wait until their objects were read
 * from the disk: the requests behind them wait, too, while all reads go on in parallel. When many
 * turns come together, the work that follows each, such as running the partition, can be done once
 * for all ({@link #hold}). Thread-safe.
 */
public final class OrderedQueue {
  private static final Logger LOG = LoggerFactory.getLogger(OrderedQueue.class);

  /** A request's turn in the order. */
  @FunctionalInterface
  public interface Turn {
    /**
     * Executes the turn. Called with this queue's lock held, so it neither waits nor calls foreign
     * code.
     *
     * @return the work that follows after the lock is released, such as a refusal's answer
     */
    Runnable take();
  }

  private static final class Entry {
    final Turn turn;
    boolean ready;

    Entry(Turn turn, boolean ready) {
      this.turn = turn;
      this.ready = ready;
    }
  }

  private final ArrayDeque<Entry> queue = new ArrayDeque<>();

  private boolean holds;

  /** What is held back, each thing once; null if nothing is. */
  private @Nullable Set<Runnable> held;

  private final boolean answersInOrder;

  /** The keyspaces of which other datacenters have executed requests of this sender. */
  private volatile Map<String, Elsewhere> elsewhere = Map.of();

  /** Requests of one keyspace that other datacenters execute. Thread-safe. */
  public static final class Elsewhere {
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile String shownBy = "";

    /** Notes that another request has gone there. */
    public void begins() {
      underWay.incrementAndGet();
    }

    public void ends() {
      underWay.decrementAndGet();
    }

    /** Returns whether none of these requests is in flight. */
    public boolean isIdle() {
      return underWay.get() == 0;
    }

    /**
     * Notes that an answer of this datacenter is shown; returns whether the last one was another
     * datacenter's.
     */
    public boolean changesTo(String dc) {
      boolean others = !shownBy.equals(dc);
      if (others) {
        shownBy = dc;
      }
      return others;
    }
  }

  /** An empty queue, for a sender that takes answers in any order. */
  public OrderedQueue() {
    this(false);
  }

  /**
   * @param answersInOrder whether the sender takes answers only in the order of its requests
   */
  public OrderedQueue(boolean answersInOrder) {
    this.answersInOrder = answersInOrder;
  }

  /** See the constructor. */
  public boolean answersInOrder() {
    return answersInOrder;
  }

  /** Returns the record of a keyspace's requests to other datacenters, made if there is none. */
  public Elsewhere goesElsewhere(String keyspace) {
    Elsewhere known = elsewhere.get(keyspace);
    return known != null ? known : addElsewhere(keyspace);
  }

  private synchronized Elsewhere addElsewhere(String keyspace) {
    Map<String, Elsewhere> more = new HashMap<>(elsewhere);
    Elsewhere of = more.computeIfAbsent(keyspace, name -> new Elsewhere());
    elsewhere = Map.copyOf(more);
    return of;
  }

  /** Returns whether another datacenter has executed, or executes, requests of a keyspace. */
  public boolean hasGoneElsewhere(String keyspace) {
    return elsewhere.containsKey(keyspace);
  }

  public void submit(Turn turn) {
    Runnable then;
    synchronized (this) {
      if (!queue.isEmpty()) {
        queue.add(new Entry(turn, true));
        return;
      }
      then = turn.take();
    }
    follow(then);
  }

  /** Does the work that follows an effect without a turn; held back like that of turns. */
  public void follow(Runnable then) {
    synchronized (this) {
      if (holds) {
        held = held == null ? new LinkedHashSet<>() : held;
        held.add(then);
        return;
      }
    }
    then.run();
  }

  /**
   * Holds back the work that follows turns until {@link #release}, except for turns that wait for a
   * read.
   *
   * @return false if work is held back already
   */
  public synchronized boolean hold() {
    boolean isNew = !holds;
    holds = true;
    return isNew;
  }

  /**
   * Does the work that was held back; a piece that was added several times is done once.
   *
   * @param together runs the work, if there is any
   */
  public void release(Consumer<Runnable> together) {
    Set<Runnable> then;
    synchronized (this) {
      then = held == null ? Set.of() : held;
      held = null;
      holds = false;
    }
    if (!then.isEmpty()) {
      together.accept(() -> run(then));
    }
  }

  /**
   * Releases several queues, removing them from the given queue. All are released even if the work
   * of one throws, since nobody else would release them.
   */
  public static void releaseAll(Queue<OrderedQueue> lanes) {
    List<Runnable> each = new ArrayList<>();
    OrderedQueue lane;
    while ((lane = lanes.poll()) != null) {
      OrderedQueue one = lane;
      each.add(() -> one.release(Runnable::run));
    }
    run(each);
  }

  /** Runs all pieces of work; if some throw, throws one exception when all have run. */
  private static void run(Iterable<Runnable> then) {
    RuntimeException failure = null;
    for (Runnable r : then) {
      try {
        r.run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else if (e != failure) {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Executes a turn once a read is done.
   *
   * @param read the read that another thread does before the turn
   * @param reader its threads may wait; after its shutdown turns are executed without a read
   */
  public void submit(Runnable read, Executor reader, Turn turn) {
    Entry entry = new Entry(turn, false);
    synchronized (this) {
      queue.add(entry);
    }
    try {
      reader.execute(() -> read(read, entry));
    } catch (RejectedExecutionException e) {
      ready(entry);
    }
  }

  private void read(Runnable read, Entry entry) {
    try {
      read.run();
    } catch (RuntimeException e) {
      LOG.debug("reading ahead failed", e); // the turn meets the same error, and answers with it
    } finally {
      ready(entry); // errors in turns are for the reader's handler of uncaught exceptions
    }
  }

  private void ready(Entry entry) {
    List<Runnable> then = new ArrayList<>();
    synchronized (this) {
      entry.ready = true;
      while (!queue.isEmpty() && queue.peek().ready) {
        then.add(take(queue.poll().turn));
      }
    }
    run(then);
  }

  /**
   * Executes a turn; its exception is thrown later, with the work that follows, so that the turns
   * behind it are executed.
   */
  private static Runnable take(Turn turn) {
    try {
      return turn.take();
    } catch (RuntimeException e) {
      return () -> {
        throw e;
      };
    }
  }
}
