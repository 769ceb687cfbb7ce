package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The large states of a peer's stream that are being pulled, and the offers that were pulled last.
 * Not thread-safe.
 */
public final class StatePulls {
  /**
   * The number of large states that are pulled at a time, however many are offered. Interrupted
   * pulls are kept for the next offer of their object, but make room for others.
   */
  public static final int MAX = 16;

  /**
   * For this many pulled offers it is remembered that they were pulled, in case they are repeated.
   */
  private static final int DONE_MAX = 64;

  private final Map<ObjectId, StatePull> open = new HashMap<>();
  private final ArrayDeque<Done> done = new ArrayDeque<>();

  /** An offer that was pulled, without its deadlines, which may be many. */
  private record Done(ObjectId object, long epoch, long number, int version) {
    static Done of(Frame.Offer offer) {
      return new Done(
          offer.object(),
          offer.epoch(),
          offer.number() >>> Frame.Offer.TIMES_BITS,
          offer.version().hashCode());
    }
  }

  /** Returns how many large states are being pulled. */
  public int count() {
    return open.size();
  }

  /** Returns about how many heap bytes the incomplete states take. */
  public long heapBytes() {
    long bytes = 0;
    for (StatePull pull : open.values()) {
      bytes += pull.heapBytes();
    }
    return bytes;
  }

  /** Returns the pull of an object that is in progress; null if there is none. */
  public @Nullable StatePull get(ObjectId object) {
    return open.get(object);
  }

  public void begin(StatePull pull) {
    open.put(pull.offer().object(), pull);
  }

  /** Notes that a pulled state has been applied. */
  public void end(StatePull pull) {
    open.remove(pull.offer().object());
    done.add(Done.of(pull.offer()));
    if (done.size() > DONE_MAX) {
      done.remove();
    }
  }

  /** Whether an offer is among those that were pulled last. */
  public boolean hasDone(Frame.Offer offer) {
    return done.contains(Done.of(offer));
  }

  /** Drops all pulls. */
  public void drop() {
    open.clear();
  }

  /** Drops the pulls of offers of other epochs. */
  public void dropAllBut(long epoch) {
    open.values().removeIf(p -> p.offer().epoch() != epoch);
  }

  /** Drops the pulls whose sender has sent nothing of them since a time. */
  public void dropSilent(long sinceNanos) {
    open.values().removeIf(p -> p.heardNanos() - sinceNanos < 0);
  }

  /** Counts the pulls that {@link #dropSilent} would keep. */
  public int countHeardSince(long sinceNanos) {
    return (int) open.values().stream().filter(p -> p.heardNanos() - sinceNanos >= 0).count();
  }
}
