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
 * Keeps the order of one sender's requests although some have to wait until their objects were read
 * from the disk: those behind wait with them, while all reads go on side by side. What follows many
 * turns that come together, as running their partition, can be done once for all of them ({@link
 * #hold}). Thread-safe.
 */
public final class OrderedQueue {
  private static final Logger LOG = LoggerFactory.getLogger(OrderedQueue.class);

  /** What is done in its turn. */
  @FunctionalInterface
  public interface Turn {
    /**
     * Takes effect. Called with the lane's lock held, so it neither waits nor runs others' code.
     *
     * @return what is to be done after the lock is released, such as a refusal's answer
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

  /** The keyspaces of which other datacenters have done something that came in this order. */
  private volatile Map<String, Elsewhere> elsewhere = Map.of();

  /** What of one keyspace is done by other datacenters. Thread-safe. */
  public static final class Elsewhere {
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile String shownBy = "";

    /** One more request is done there. */
    public void begins() {
      underWay.incrementAndGet();
    }

    public void ends() {
      underWay.decrementAndGet();
    }

    /** Whether none is. */
    public boolean isIdle() {
      return underWay.get() == 0;
    }

    /** What a datacenter has told is shown; whether it was another one's before. */
    public boolean changesTo(String dc) {
      boolean others = !shownBy.equals(dc);
      if (others) {
        shownBy = dc;
      }
      return others;
    }
  }

  /** A lane in which nothing waits, of a sender whose requests may be answered in any order. */
  public OrderedQueue() {
    this(false);
  }

  /**
   * @param answersInOrder whether the sender takes no answer before those to earlier requests
   */
  public OrderedQueue(boolean answersInOrder) {
    this.answersInOrder = answersInOrder;
  }

  /** See the constructor. */
  public boolean answersInOrder() {
    return answersInOrder;
  }

  /** Something of a keyspace is done by another datacenter. */
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

  /** Whether another datacenter has done something of a keyspace, or does. */
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

  /**
   * Does what follows something that took effect without a turn, when what is held back is done.
   */
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
   * From now on what follows turns is held back, until {@link #release}. Not what follows those
   * that wait for a read.
   *
   * @return whether it was not held back so far
   */
  public synchronized boolean hold() {
    boolean isNew = !holds;
    holds = true;
    return isNew;
  }

  /**
   * Does what was held back: the same thing once, however often it was to follow.
   *
   * @param together runs it, if there is anything
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
   * Does what was held back in several lanes, which are taken from their queue: what follows in one
   * may fail, and the others have nobody else to release them.
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

  /** What one throws is thrown when all others have had their turn. */
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
   * Does something in its turn, once something else is done.
   *
   * @param read what must be done before it, by another thread
   * @param reader whose threads may wait; once it has ended nothing is read before a turn
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
      LOG.debug("reading ahead failed", e); // and fails again, with a reply, in its turn
    } finally {
      ready(entry); // what fails there is for the reader's handler of uncaught exceptions
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

  /** What a turn throws is thrown among what follows: those behind it have nobody else. */
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
