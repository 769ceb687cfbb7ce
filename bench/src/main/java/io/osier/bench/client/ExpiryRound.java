package io.osier.bench.client;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/**
 * Many objects expire within one second while others are used at a fixed rate. They are made, get
 * their deadlines, and are used by nobody; the others are looked at in four times: before the
 * second in which they expire, in it, from its end until the store has removed them all, and until
 * it has forgotten that they were there.
 */
final class ExpiryRound {
  /** What is asked for. */
  record Settings(
      int objects, int others, int perSecond, double beforeSeconds, double patienceSeconds) {}

  /**
   * What a round came to.
   *
   * @param before how long the others' calls took before the second, in microseconds from when they
   *     were due
   * @param during in the second in which the objects expire
   * @param removing from its end until all were removed; empty if that was sooner
   * @param forgetting from then until the store kept nothing of them; empty if it did not then
   * @param after from the second's begin until the store kept nothing of them
   * @param removedSeconds from the second's begin until all were removed
   * @param goneSeconds from the second's begin until the store kept nothing of them
   * @param cpuBefore processors that the store used before the second
   * @param cpuAfter and from its begin until it kept nothing of them
   * @param failed calls
   */
  record Outcome(
      Histogram before,
      Histogram during,
      Histogram removing,
      Histogram forgetting,
      Histogram after,
      double removedSeconds,
      double goneSeconds,
      double cpuBefore,
      double cpuAfter,
      long failed) {}

  /** Hears how many objects are left, so many seconds after the second's begin. */
  interface Listener {
    void left(double seconds, ExpiringSide.Held objects);
  }

  /** When the store had removed all, and kept nothing of them any more. */
  private record End(long removedNanos, long goneNanos) {}

  private static final int IN_FLIGHT = 256;
  private static final long SECOND_MILLIS = 1_000;
  private static final long SECOND_NANOS = SECOND_MILLIS * 1_000_000;

  /** Between the load's begin and the time that is looked at, if that is no shorter. */
  private static final long SETTLE_MILLIS_MAX = 1_000;

  /** Deadlines take longer to give than objects to make, by at most so much. */
  private static final double GIVING = 2.5;

  private static final long LOOK_MILLIS = 100;

  /** So many are looked at when all have expired: what is over must be hidden at once. */
  private static final int LOOKED_AT = 100;

  /** The store's clock may be behind by so much. */
  private static final long CLOCK_NANOS = 100_000_000;

  private final ExpiringSide side;
  private final Settings settings;

  /** Beginnings of its keys: nobody else's. */
  private final String prefix;

  ExpiryRound(ExpiringSide side, Settings settings, String prefix) {
    this.side = side;
    this.settings = settings;
    this.prefix = prefix;
  }

  /**
   * Runs it.
   *
   * @throws OsierException INTERNAL if expired objects are still there, or shown, in the end
   */
  Outcome run(Listener listener) throws InterruptedException {
    makeOthers();
    long there = side.held().all();
    long began = System.nanoTime();
    all(settings.objects, i -> side.put(prefix + i));
    double fillSeconds = (System.nanoTime() - began) / 1e9;
    long beforeMillis = (long) (settings.beforeSeconds * 1_000);
    long settleMillis = Math.min(SETTLE_MILLIS_MAX, beforeMillis);
    long lead = (long) (fillSeconds * 1_000 * GIVING) + 2 * settleMillis + beforeMillis;
    // One clock for what is due and one for what is measured, tied together here.
    long deadline = System.currentTimeMillis() + lead;
    long deadlineNanos = System.nanoTime() + lead * 1_000_000;
    giveDeadlines(deadline);
    double late = (System.nanoTime() - deadlineNanos) / 1e9 + settings.beforeSeconds;
    if (late > 0) {
      throw new OsierException(
          ErrorCode.TIMEOUT,
          String.format(
              Locale.ROOT,
              "%s: giving %,d deadlines took %.1f s longer than there was time for",
              side.name(),
              settings.objects,
              late));
    }
    sleepUntil(deadlineNanos - (beforeMillis + settleMillis) * 1_000_000);
    double atMost = settings.beforeSeconds + settings.patienceSeconds + 10;
    OpenLoop load = OpenLoop.start(settings.perSecond, atMost, this::use);
    try (load) {
      return watch(load.calls(), there, deadlineNanos, listener);
    }
  }

  private void makeOthers() throws InterruptedException {
    all(settings.others, i -> side.use(other(i), false));
  }

  private void giveDeadlines(long deadline) throws InterruptedException {
    AtomicLong absent = new AtomicLong();
    all(
        settings.objects,
        i ->
            side.expireAt(prefix + i, deadline + i * SECOND_MILLIS / settings.objects)
                .thenAccept(
                    there -> {
                      if (!there) {
                        absent.incrementAndGet();
                      }
                    }));
    if (absent.get() > 0) {
      throw new OsierException(
          ErrorCode.INTERNAL,
          side.name() + ": " + absent.get() + " objects were gone before they had a deadline");
    }
  }

  private static String other(long number) {
    return "other" + number;
  }

  private void use(long number, Driver.Done done) {
    // Each object in turn is read and, the next time, changed.
    side.use(other(number % settings.others), number / settings.others % 2 == 0)
        .whenComplete((result, error) -> done.done(error == null));
  }

  private Outcome watch(OpenLoop.Calls calls, long there, long deadline, Listener listener)
      throws InterruptedException {
    long from = deadline - (long) (settings.beforeSeconds * 1e9);
    sleepUntil(from);
    Duration cpuFrom = side.cpu();
    sleepUntil(deadline);
    Duration cpuDeadline = side.cpu();
    End end = awaitGone(there, deadline, listener);
    Duration cpuGone = side.cpu();
    Thread.sleep(LOOK_MILLIS); // those that are due in the last moments are answered
    long visible = side.visible(prefix);
    if (visible > 0) {
      throw new OsierException(
          ErrorCode.INTERNAL,
          String.format(
              Locale.ROOT, "%s: %,d expired objects are still shown", side.name(), visible));
    }
    long over = deadline + SECOND_NANOS;
    long removed = Math.max(over, end.removedNanos);
    long gone = Math.max(over, end.goneNanos);
    long now = System.nanoTime();
    return new Outcome(
        calls.between(from, deadline, now),
        calls.between(deadline, over, now),
        calls.between(over, removed, now),
        calls.between(removed, gone, now),
        calls.between(deadline, gone, now),
        (end.removedNanos - deadline) / 1e9,
        (end.goneNanos - deadline) / 1e9,
        (double) cpuDeadline.minus(cpuFrom).toNanos() / (deadline - from),
        (double) cpuGone.minus(cpuDeadline).toNanos() / Math.max(1, end.goneNanos - deadline),
        calls.failed());
  }

  private End awaitGone(long there, long deadline, Listener listener) throws InterruptedException {
    long hidden = deadline + SECOND_NANOS + CLOCK_NANOS;
    long last = deadline + SECOND_NANOS + (long) (settings.patienceSeconds * 1e9);
    boolean looked = false;
    long removed = 0;
    while (true) {
      ExpiringSide.Held held = side.held();
      long now = System.nanoTime();
      long left = held.all() - there;
      listener.left(
          (now - deadline) / 1e9, new ExpiringSide.Held(Math.max(0, left), held.removed()));
      if (removed == 0 && left - held.removed() <= 0) {
        removed = now;
      }
      if (!looked && now >= hidden) {
        looked = true;
        checkHidden();
      }
      if (left <= 0 && looked) {
        return new End(removed, now);
      }
      if (now > last) {
        throw new OsierException(
            ErrorCode.INTERNAL,
            String.format(
                Locale.ROOT,
                "%s: of %,d expired objects %,d are still there %.1f s after the last deadline, of"
                    + " which %,d are removed and not forgotten; %,d are shown",
                side.name(),
                settings.objects,
                left,
                settings.patienceSeconds,
                held.removed(),
                side.visible(prefix)));
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private void checkHidden() throws InterruptedException {
    AtomicLong shown = new AtomicLong();
    int step = Math.max(1, settings.objects / LOOKED_AT);
    all(
        (settings.objects - 1) / step + 1,
        i ->
            side.shows(prefix + i * step)
                .thenAccept(
                    shows -> {
                      if (shows) {
                        shown.incrementAndGet();
                      }
                    }));
    if (shown.get() > 0) {
      throw new OsierException(
          ErrorCode.INTERNAL,
          String.format(
              Locale.ROOT,
              "%s: %d of %d objects were shown after they had expired",
              side.name(),
              shown.get(),
              (settings.objects - 1) / step + 1));
    }
  }

  /** Makes calls with all numbers, many at once. */
  private void all(int count, IntFunction<CompletionStage<?>> call) throws InterruptedException {
    Semaphore free = new Semaphore(IN_FLIGHT);
    AtomicLong failures = new AtomicLong();
    for (int i = 0; i < count; i++) {
      free.acquire();
      call.apply(i)
          .whenComplete(
              (result, error) -> {
                if (error != null) {
                  failures.incrementAndGet();
                }
                free.release();
              });
    }
    free.acquire(IN_FLIGHT);
    if (failures.get() > 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, side.name() + ": " + failures.get() + " calls failed");
    }
  }

  private static void sleepUntil(long nanos) throws InterruptedException {
    long left = nanos - System.nanoTime();
    if (left > 0) {
      Thread.sleep(Duration.ofNanos(left));
    }
  }
}
