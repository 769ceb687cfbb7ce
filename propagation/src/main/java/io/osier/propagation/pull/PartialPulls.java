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
 * Keeps the parts of large states whose answers ended early, so that the next peer that sends the
 * state need not send them again. Such a part is not a version that ever existed. When the parts
 * take too much, the oldest is dropped, but never the last one. Not thread-safe.
 */
public final class PartialPulls {
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * A version that was here, joined with the received part of another one.
   *
   * @param isHalf whether parts of another version may be in it
   * @param bytes about how many bytes the received part takes in the heap
   */
  public record Part(CrdtState version, boolean isHalf, long bytes) {
    /** Returns a version that is here, without any received part. */
    public static Part version(CrdtState version) {
      return new Part(version, false, 0);
    }

    /** Returns a version joined with the received part of another one. */
    static Part half(CrdtState version, long bytes) {
      return new Part(version, true, bytes);
    }
  }

  private record Kept(Part part, long sinceNanos) {}

  private final LinkedHashMap<ObjectId, Kept> kept = new LinkedHashMap<>();
  private long heapBytes;

  /**
   * Keeps the received part of an object.
   *
   * @param bytesMax the most bytes that are kept; one part is kept in any case
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

  /** Takes the kept part of an object, if its version has not changed. */
  public Optional<Part> take(ObjectId object) {
    Kept some = kept.remove(object);
    heapBytes -= bytes(some);
    return Optional.ofNullable(some)
        .map(Kept::part)
        .filter(part -> Decomposition.hold(part.version));
  }

  /** Drops the parts whose version has changed, and those that have been kept for long. */
  public void hold(long nowNanos) {
    kept.values()
        .removeIf(k -> nowNanos - k.sinceNanos > KEPT_NANOS || !Decomposition.hold(k.part.version));
    heapBytes = 0;
    kept.values().forEach(k -> heapBytes += bytes(k));
  }

  /** Returns about how many bytes the kept parts take in the heap. */
  public long heapBytes() {
    return heapBytes;
  }
}
