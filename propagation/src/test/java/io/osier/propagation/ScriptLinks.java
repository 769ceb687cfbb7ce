package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * The links of a {@link Script}, which lose, duplicate and delay frames. A link is named by
 * "from>to".
 */
final class ScriptLinks {
  private final Set<String> cut = new HashSet<>();
  private final Set<String> losing = new HashSet<>();
  private final Set<String> hushing = new HashSet<>();
  private final Map<String, Long> bytesPerSecond = new HashMap<>();

  /** How many frames were sent on each link since {@link #uneven}. */
  private final Map<String, Integer> uneven = new HashMap<>();

  /** When all frames that were sent on a slow link have left. */
  private final Map<String, Long> leftNanos = new HashMap<>();

  private BiPredicate<String, Frame> loss = (link, frame) -> false;
  private BiPredicate<String, Frame> repeats = (link, frame) -> false;

  void cut(String link, boolean isCut) {
    if (isCut) {
      cut.add(link);
    } else {
      cut.remove(link);
    }
  }

  boolean isCut(String link) {
    return cut.contains(link);
  }

  /** Loses the next updates. */
  void loseUpdates(String link) {
    losing.add(link);
  }

  /** Loses the next status, without a line in the transcript. */
  void hush(String link) {
    hushing.add(link);
  }

  /** Limits how many bytes leave in a second from now on. */
  void slow(String link, long perSecond) {
    bytesPerSecond.put(link, perSecond);
  }

  /** Delays each second frame by a millisecond from now on. */
  void uneven(String link) {
    uneven.put(link, 0);
  }

  /** Loses the frames that the predicate accepts, besides others that are lost. */
  void loses(BiPredicate<String, Frame> frames) {
    loss = frames;
  }

  /** Sends the frames that the predicate accepts a second time, later. */
  void repeats(BiPredicate<String, Frame> frames) {
    repeats = frames;
  }

  boolean loses(String link, Frame frame) {
    boolean isLost = frame instanceof Frame.Updates && losing.remove(link);
    return loss.test(link, frame) || isLost;
  }

  boolean hushes(String link, Frame frame) {
    return frame instanceof Frame.Status && hushing.remove(link);
  }

  boolean repeats(String link, Frame frame) {
    return repeats.test(link, frame);
  }

  /** Returns how long it takes until a frame and those before it have left. */
  long queuedNanos(String link, ReplicaId from, Frame frame, long nanos) {
    if (uneven.containsKey(link)) {
      return uneven.merge(link, 1, Integer::sum) % 2 * 1_000_000L;
    }
    Long perSecond = bytesPerSecond.get(link);
    if (perSecond == null) {
      return 0;
    }
    long bytes = FrameCodec.encode(from, frame).length;
    long left =
        Math.max(nanos, leftNanos.getOrDefault(link, 0L)) + bytes * 1_000_000_000L / perSecond;
    leftNanos.put(link, left);
    return left - nanos;
  }
}
