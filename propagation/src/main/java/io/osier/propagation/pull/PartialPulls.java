package io.osier.propagation.pull;

import static java.util.Objects.requireNonNull;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What has come of large states whose answers ended early: whoever gives them next need not give
 * that again. It is no version that ever was. The oldest is dropped where it takes too much, but
 * never the last one. Not thread-safe.
 */
public final class PartialPulls {
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * A version that was here, with what has come of another one.
   *
   * @param isHalf whether something of another one may have come
   * @param bytes what has come takes so much in the heap, about
   */
  public record Part(CrdtState version, boolean isHalf, long bytes) {
    /** A version that is here: nothing has come. */
    public static Part version(CrdtState version) {
      return new Part(version, false, 0);
    }

    /** With what has come. */
    static Part half(CrdtState version, long bytes) {
      return new Part(version, true, bytes);
    }
  }

  private record Kept(Part part, long sinceNanos) {}

  private final LinkedHashMap<ObjectId, Kept> kept = new LinkedHashMap<>();
  private long heapBytes;

  /**
   * Keeps what has come of an object.
   *
   * @param bytesMax so much is kept, and one at least
   */
  public void keep(ObjectId object, Part part, long bytesMax, long nowNanos) {
    heapBytes += part.bytes - bytes(kept.remove(object));
    kept.put(object, new Kept(part, nowNanos));
    while (heapBytes > bytesMax && kept.size() > 1) {
      heapBytes -= bytes(requireNonNull(kept.pollFirstEntry()).getValue());
    }
  }

  private static long bytes(@Nullable Kept before) {
    return before == null ? 0 : before.part.bytes;
  }

  /** Takes what is kept of an object, if it has stayed as it was. */
  public Optional<Part> take(ObjectId object) {
    Kept some = kept.remove(object);
    heapBytes -= bytes(some);
    return Optional.ofNullable(some)
        .map(Kept::part)
        .filter(part -> Decomposition.hold(part.version));
  }

  /** Drops what has not stayed as it was, or is not asked for any more. */
  public void hold(long nowNanos) {
    kept.values()
        .removeIf(k -> nowNanos - k.sinceNanos > KEPT_NANOS || !Decomposition.hold(k.part.version));
    heapBytes = 0;
    kept.values().forEach(k -> heapBytes += bytes(k));
  }

  /** What is kept takes so much in the heap, about, in bytes. */
  public long heapBytes() {
    return heapBytes;
  }
}
