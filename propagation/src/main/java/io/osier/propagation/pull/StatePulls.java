package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The large states of a peer's stream that are being pulled, and those that were last. Not
 * thread-safe.
 */
public final class StatePulls {
  /**
   * So many large states are pulled at a time, whatever is offered. Pulls that were interrupted are
   * kept for the next offer of their object, but make room for others.
   */
  public static final int MAX = 16;

  /** Of so many offers it is known that they were pulled, should that be asked for once more. */
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

  /** How many large states are being pulled. */
  public int count() {
    return open.size();
  }

  /** What has been pulled and is not complete takes so much in the heap, about, in bytes. */
  public long heapBytes() {
    long bytes = 0;
    for (StatePull pull : open.values()) {
      bytes += pull.heapBytes();
    }
    return bytes;
  }

  /** The pull of an object that is under way; null if there is none. */
  public @Nullable StatePull get(ObjectId object) {
    return open.get(object);
  }

  public void begin(StatePull pull) {
    open.put(pull.offer().object(), pull);
  }

  /** What was pulled has been applied. */
  public void end(StatePull pull) {
    open.remove(pull.offer().object());
    done.add(Done.of(pull.offer()));
    if (done.size() > DONE_MAX) {
      done.remove();
    }
  }

  /** Whether it is one of those that were pulled last. */
  public boolean hasDone(Frame.Offer offer) {
    return done.contains(Done.of(offer));
  }

  /** Nothing is pulled any more. */
  public void drop() {
    open.clear();
  }

  /** Drops what has come of offers of other epochs. */
  public void dropAllBut(long epoch) {
    open.values().removeIf(p -> p.offer().epoch() != epoch);
  }

  /** Drops what has come of offers of which nothing was heard since a time. */
  public void dropSilent(long sinceNanos) {
    open.values().removeIf(p -> p.heardNanos() - sinceNanos < 0);
  }

  /** How many are not silent as {@link #dropSilent} says. */
  public int countHeardSince(long sinceNanos) {
    return (int) open.values().stream().filter(p -> p.heardNanos() - sinceNanos >= 0).count();
  }
}
