package io.osier.propagation.pull;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A peer's answers whose large state is still to be pulled. They are pulled one after the other,
 * since mostly they contain the same objects. Not thread-safe.
 */
public final class PendingAnswers {
  /**
   * The number of ranges whose entries are requested at once in the beginning, until it is known
   * how fast they come, and at least: behind other frames fewer would come no sooner.
   */
  private static final int RANGES_MIN = 16;

  private final RequestRetry asking;
  private final long soonNanos;
  private final Map<Optional<ReplicaId>, PendingAnswer> all = new LinkedHashMap<>();

  /** The answer for which a request is open; null if there is none. */
  private @Nullable PendingAnswer asked;

  private long askedNumber;
  private long askedNanos;

  /**
   * The number of ranges whose entries are requested at once, chosen so that an answer comes soon.
   */
  private int ranges = RANGES_MIN;

  /**
   * @param asking times the requests; its numbers are not sent
   * @param soonNanos an answer that takes longer should have been smaller
   */
  public PendingAnswers(RequestRetry asking, long soonNanos) {
    this.asking = asking;
    this.soonNanos = soonNanos;
  }

  public void add(PendingAnswer answer) {
    all.put(answer.origin(), answer);
  }

  /** Removes an answer that is not pulled any more. Returns it, or null if there was none. */
  public @Nullable PendingAnswer remove(Optional<ReplicaId> origin) {
    PendingAnswer removed = all.remove(origin);
    if (removed != null && removed == asked) {
      asked = null;
      asking.cancel();
    }
    return removed;
  }

  public List<PendingAnswer> all() {
    return List.copyOf(all.values());
  }

  /** Returns the answer that is pulled now or next; null if there is none. */
  public @Nullable PendingAnswer first() {
    return all.isEmpty() ? null : all.values().iterator().next();
  }

  /** Returns the answer with the open request if this offer belongs to it; otherwise null. */
  public @Nullable PendingAnswer asked(long number) {
    return asked != null && asked.offer().isOf(Frame.Offer.OF_ANSWER, number) ? asked : null;
  }

  /**
   * Notes that the first answer's next request is sent. Returns how many ranges' entries to ask
   * for.
   */
  public int ask(PendingAnswer first, long nowNanos) {
    if (asked == first && asking.isOpen()) {
      long unused = asking.askAgain(nowNanos);
      return ranges;
    }
    asked = first;
    askedNumber = asking.ask(nowNanos);
    askedNanos = nowNanos;
    return ranges;
  }

  /** Notes that the answer to the open request was received. */
  public void came(long nowNanos) {
    boolean unused = asking.answered(askedNumber, nowNanos);
    long took = nowNanos - askedNanos;
    if (took > soonNanos) {
      ranges = Math.max(RANGES_MIN, ranges / 2);
    } else if (took < soonNanos / 2) {
      ranges = Math.min(StatePull.RANGES_MAX, 2 * ranges);
    }
  }

  /** Whether the first request or a repetition is due. */
  public boolean isDue(long heardNanos) {
    return !all.isEmpty() && (asked == null || asking.isDue(heardNanos));
  }

  /** Returns about how many bytes the received parts take in the heap. */
  public long heapBytes() {
    long bytes = 0;
    for (PendingAnswer answer : all.values()) {
      bytes += answer.heapBytes();
    }
    return bytes;
  }
}
