package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/** What the links of a {@link Script} lose, repeat and delay. A link is named by "from>to". */
final class ScriptLinks {
  private final Set<String> cut = new HashSet<>();
  private final Set<String> losing = new HashSet<>();
  private final Set<String> hushing = new HashSet<>();
  private final Map<String, Long> bytesPerSecond = new HashMap<>();

  /** How many frames have been sent since. */
  private final Map<String, Integer> uneven = new HashMap<>();

  /** When all that was sent by a slow link has left. */
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

  /** The next updates are lost. */
  void loseUpdates(String link) {
    losing.add(link);
  }

  /** The next status is lost, and nothing is told of it. */
  void hush(String link) {
    hushing.add(link);
  }

  /** From now on so many bytes leave in a second. */
  void slow(String link, long perSecond) {
    bytesPerSecond.put(link, perSecond);
  }

  /** From now on each second frame comes a millisecond later than the others. */
  void uneven(String link) {
    uneven.put(link, 0);
  }

  /** Such frames are lost beside what else is. */
  void loses(BiPredicate<String, Frame> frames) {
    loss = frames;
  }

  /** Such frames come a second time, later. */
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

  /** How long it takes until a frame and those before it have left. */
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
