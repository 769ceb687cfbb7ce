package io.osier.datacenter.server;

import io.osier.testing.Patience;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs threads one at a time, in an order that a seed draws: whoever runs goes on to its next
 * hand-over, then one of those that can go on is chosen. Threads of the code under test take part
 * from the first hand-over on that they come to. A thread that waits for a lock or sleeps is passed
 * over. When nobody can go on any more although not all are done, that is a deadlock.
 *
 * <p>Between being woken by another one and its next hand-over a thread may run beside that one, so
 * a seed nearly always, not always, gives the same order. Nothing that holds for any order can fail
 * by that.
 */
public final class Interleaving {
  /** Nothing of this runs for so long without a hand-over, unless it hangs. */
  private static final Duration STUCK = Patience.LIMIT;

  private static final int TURNS_BETWEEN_LOOKS = 1_000;
  private static final int LOOKS_AT_ONCE = 20;

  /** Whoever comes to a hand-over ends a pause. */
  private static final long PAUSE_NANOS = 50_000;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private static final class Actor {
    final Thread thread;
    final boolean counts;
    final Semaphore turn = new Semaphore(0);

    /** When it can go on; null while it runs or waits for something else. */
    volatile @Nullable BooleanSupplier when;

    /** Its turn has come, and it has not yet noticed. */
    volatile boolean called;

    Actor(Thread thread, boolean counts) {
      this.thread = thread;
      this.counts = counts;
    }

    boolean isAtHandOver() {
      return when != null;
    }

    /** Whether it is at a hand-over and can go on. */
    boolean isAble() {
      BooleanSupplier can = when;
      return can != null && can.getAsBoolean();
    }

    boolean isDone() {
      return thread.getState() == Thread.State.TERMINATED;
    }

    /** Whether it has come to a hand-over, or waits for somebody, or is done. */
    boolean stands() {
      return !called && (isAtHandOver() || waits());
    }

    private boolean waits() {
      return switch (thread.getState()) {
        case NEW, RUNNABLE -> false;
        case BLOCKED -> isHeld(THREADS.getThreadInfo(thread.threadId()));
        case WAITING, TIMED_WAITING, TERMINATED -> true;
      };
    }

    /** Whether somebody has the lock that it waits for: otherwise it is about to go on. */
    private static boolean isHeld(ThreadInfo waiter) {
      return waiter != null && waiter.getLockOwnerId() != -1;
    }
  }

  private final Random random;

  @SuppressWarnings("ThreadLocalUsage") // of one interleaving: its threads end with it
  private final ThreadLocal<Actor> here = new ThreadLocal<>();

  private final List<Actor> actors = new ArrayList<>();

  /** Who chooses whose turn it is. */
  private volatile @Nullable Thread conductor;

  private volatile boolean over;
  private volatile @Nullable Throwable failure;
  private long turns;

  public Interleaving(long seed) {
    random = new Random(seed);
  }

  /** Adds a thread that must come to its end. It begins with a hand-over. */
  public void add(String name, Runnable body) {
    start(name, body, true);
  }

  /** Adds a thread that is left alone when all others are done. */
  public void addAgent(String name, Runnable step) {
    start(
        name,
        () -> {
          while (!over) {
            step.run();
            handOver();
          }
        },
        false);
  }

  private void start(String name, Runnable body, boolean counts) {
    Thread thread =
        Thread.ofPlatform()
            .name(name)
            .daemon(true)
            .unstarted(
                () -> {
                  handOver();
                  try {
                    body.run();
                  } catch (Throwable e) {
                    failure = e;
                  }
                });
    synchronized (actors) {
      actors.add(new Actor(thread, counts));
    }
    thread.start();
  }

  /** Lets somebody else go on, perhaps. For any thread. */
  public void handOver() {
    handOverUntil(() -> true);
  }

  /** Goes on in one of the turns in which this is so. For any thread. */
  public void handOverUntil(BooleanSupplier when) {
    if (over) {
      return;
    }
    Actor actor = actor();
    actor.when = when;
    LockSupport.unpark(conductor);
    actor.turn.acquireUninterruptibly();
    actor.called = false;
  }

  private Actor actor() {
    Actor actor = here.get();
    if (actor == null) {
      synchronized (actors) {
        for (Actor known : actors) {
          actor = known.thread == Thread.currentThread() ? known : actor;
        }
        if (actor == null) {
          actor = new Actor(Thread.currentThread(), false);
          actors.add(actor);
        }
      }
      here.set(actor);
    }
    return actor;
  }

  private List<Actor> actors() {
    synchronized (actors) {
      return List.copyOf(actors);
    }
  }

  /** How often somebody was chosen. */
  long turns() {
    return turns;
  }

  /**
   * Lets all run to their ends.
   *
   * @throws AssertionError if that is not possible, or one of them failed
   */
  public void run() {
    conductor = Thread.currentThread();
    try {
      while (failure == null) {
        List<Actor> all = standstill();
        if (all.stream().allMatch(a -> !a.counts || a.isDone())) {
          break;
        }
        List<Actor> able = all.stream().filter(Actor::isAble).toList();
        if (able.isEmpty()) {
          able = somebody();
        }
        Actor next = able.get(random.nextInt(able.size()));
        turns++;
        if (turns % TURNS_BETWEEN_LOOKS == 0) {
          failOnDeadlock(); // agents go on for ever
        }
        next.called = true;
        next.when = null;
        next.turn.release();
      }
    } finally {
      over = true;
      actors().forEach(a -> a.turn.release(1_000_000));
    }
    if (failure != null) {
      throw new AssertionError("after " + turns + " turns", failure);
    }
  }

  /** Looks again at once a few times, then leaves the processor to those who may need it. */
  private static void pause(int looks) {
    if (looks > LOOKS_AT_ONCE) {
      LockSupport.parkNanos(PAUSE_NANOS);
    } else {
      Thread.onSpinWait();
    }
  }

  /** Waits until nobody runs. */
  private List<Actor> standstill() {
    long deadline = System.nanoTime() + STUCK.toNanos();
    int looks = 0;
    while (true) {
      List<Actor> all = actors();
      if (all.stream().allMatch(Actor::stands)) {
        return all;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("somebody runs without end: " + dump());
      }
      pause(++looks);
    }
  }

  /** Who can go on after all, for it was woken by time; a deadlock if nobody can. */
  private List<Actor> somebody() {
    long deadline = System.nanoTime() + STUCK.toNanos();
    int looks = 0;
    while (System.nanoTime() < deadline) {
      failOnDeadlock();
      List<Actor> able = standstill().stream().filter(Actor::isAble).toList();
      if (!able.isEmpty()) {
        return able;
      }
      pause(++looks);
    }
    throw new AssertionError("nobody can go on after " + turns + " turns: " + dump());
  }

  /** Fails if some of these wait for each other's locks; other tests' threads do not count. */
  private void failOnDeadlock() {
    long[] found = THREADS.findDeadlockedThreads();
    if (found != null
        && actors().stream()
            .anyMatch(a -> LongStream.of(found).anyMatch(id -> id == a.thread.threadId()))) {
      throw new AssertionError("a deadlock after " + turns + " turns: " + dump());
    }
  }

  private String dump() {
    StringBuilder text = new StringBuilder();
    for (Actor actor : actors()) {
      ThreadInfo info = THREADS.getThreadInfo(actor.thread.threadId(), Integer.MAX_VALUE);
      text.append('\n').append(info == null ? actor.thread : info);
    }
    return text.toString();
  }
}
