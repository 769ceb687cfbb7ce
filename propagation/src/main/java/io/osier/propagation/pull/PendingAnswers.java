package io.osier.propagation.pull;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A peer's answers of which a large state is still to be pulled, one after the other: mostly they
 * show the same objects. Not thread-safe.
 */
public final class PendingAnswers {
  /**
   * The entries of so many ranges are asked for at first, until it is known how fast they come, and
   * at least: fewer would come no sooner where others are in front of them.
   */
  private static final int RANGES_MIN = 16;

  private final RequestRetry asking;
  private final long soonNanos;
  private final Map<Optional<ReplicaId>, PendingAnswer> all = new LinkedHashMap<>();

  /** The one that is asked for; null if none is. */
  private @Nullable PendingAnswer asked;

  private long askedNumber;
  private long askedNanos;

  /** Of so many ranges the entries are asked for at once, so that an answer comes soon. */
  private int ranges = RANGES_MIN;

  /**
   * @param asking for requests, whose numbers nobody is told
   * @param soonNanos an answer that takes longer should have been smaller
   */
  public PendingAnswers(RequestRetry asking, long soonNanos) {
    this.asking = asking;
    this.soonNanos = soonNanos;
  }

  public void add(PendingAnswer answer) {
    all.put(answer.origin(), answer);
  }

  /** It is pulled no more. Returns it, or null. */
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

  /** The one that is pulled, or is to be; null if there is none. */
  public @Nullable PendingAnswer first() {
    return all.isEmpty() ? null : all.values().iterator().next();
  }

  /** The one that is asked for, if what came belongs to its offer. */
  public @Nullable PendingAnswer asked(long number) {
    return asked != null && asked.offer().isOf(Frame.Offer.OF_ANSWER, number) ? asked : null;
  }

  /** The first one is asked for. Returns how many ranges' entries to ask for. */
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

  /** What was asked has come. */
  public void came(long nowNanos) {
    boolean unused = asking.answered(askedNumber, nowNanos);
    long took = nowNanos - askedNanos;
    if (took > soonNanos) {
      ranges = Math.max(RANGES_MIN, ranges / 2);
    } else if (took < soonNanos / 2) {
      ranges = Math.min(StatePull.RANGES_MAX, 2 * ranges);
    }
  }

  /** Whether something is to be asked: the first of them, or once more. */
  public boolean isDue(long heardNanos) {
    return !all.isEmpty() && (asked == null || asking.isDue(heardNanos));
  }

  /** What has come takes so much in the heap, about, in bytes. */
  public long heapBytes() {
    long bytes = 0;
    for (PendingAnswer answer : all.values()) {
      bytes += answer.heapBytes();
    }
    return bytes;
  }
}
