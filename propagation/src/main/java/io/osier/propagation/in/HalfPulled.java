package io.osier.propagation.in;

import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What has come of large states whose answers ended early: whoever gives them next need not give
 * that again. It is no version that ever was, and is dropped where its room is needed. Not
 * thread-safe.
 */
final class HalfPulled {
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * A version that was here, with what has come of another one.
   *
   * @param bytes what has come takes so much in the heap, about
   */
  record Part(Causal version, long bytes) {}

  private record Kept(Part part, long sinceNanos) {}

  private final Map<ObjectId, Kept> kept = new HashMap<>();
  private long heapBytes;

  void keep(ObjectId object, Part part, long nowNanos) {
    heapBytes += part.bytes - bytes(kept.put(object, new Kept(part, nowNanos)));
  }

  private static long bytes(Kept before) {
    return before == null ? 0 : before.part.bytes;
  }

  /** Takes what is kept of an object, if it has stayed as it was. */
  Optional<Part> take(ObjectId object) {
    Kept some = kept.remove(object);
    heapBytes -= bytes(some);
    return Optional.ofNullable(some)
        .map(Kept::part)
        .filter(part -> Decomposition.hold(part.version));
  }

  /** Drops what has not stayed as it was, or is not asked for any more. */
  void hold(long nowNanos) {
    kept.values()
        .removeIf(k -> nowNanos - k.sinceNanos > KEPT_NANOS || !Decomposition.hold(k.part.version));
    heapBytes = kept.values().stream().mapToLong(HalfPulled::bytes).sum();
  }

  /** Its room is needed. */
  void clear() {
    kept.clear();
    heapBytes = 0;
  }

  /** What is kept takes so much in the heap, about, in bytes. */
  long heapBytes() {
    return heapBytes;
  }
}
