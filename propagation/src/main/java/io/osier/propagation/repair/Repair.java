package io.osier.propagation.repair;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;
import io.osier.propagation.pull.RequestRetry;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What is being fetched of one origin from one peer, page by page. Not thread-safe. */
final class Repair {
  /** What a place among what is not ready takes in the heap. */
  private static final long ENTRY_BYTES = HeapSize.object(6 * HeapSize.REFERENCE);

  final ReplicaId peer;
  final long after;
  final CausalContext besides;
  final RequestRetry asking;
  Frame.Page page;

  /** What came and builds on something that is not here: the repair ends when it is. */
  final Map<ObjectId, Shipment> unready = new TreeMap<>();

  /** What is not ready takes so much in the heap. */
  long unreadyBytes;

  /** Whether the next page is asked for when some of what is not ready is. */
  boolean paused;

  /** The last page, once it is here; null before. */
  Frame.@Nullable States last;

  /** When what is not ready is fetched. */
  long fetchNanos;

  /** Whether the link to the peer went down and nothing was asked since, and when it did. */
  private boolean interrupted;

  private long interruptedNanos;

  /** Whether the origin ships its updates itself, and since when it does. */
  private boolean needless;

  private long needlessNanos;

  Repair(ReplicaId peer, long after, CausalContext besides, Frame.Page page, RequestRetry asking) {
    this.peer = peer;
    this.after = after;
    this.besides = besides;
    this.page = page;
    this.asking = asking;
  }

  void needless(boolean now, long nowNanos) {
    needlessNanos = needless ? needlessNanos : nowNanos;
    needless = now;
  }

  /** Whether it has been cut off, or needed no more, for a time. */
  boolean isGivenUp(long nowNanos, long afterNanos) {
    return (interrupted && nowNanos - interruptedNanos >= afterNanos)
        || (needless && last == null && nowNanos - needlessNanos >= afterNanos);
  }

  /** Keeps what came and builds on something that is not here. */
  void keep(Shipment early) {
    Shipment before = unready.put(early.object(), early);
    unreadyBytes += heapBytes(early) - (before == null ? 0 : heapBytes(before));
  }

  /** Forgets what was not ready and has come meanwhile, by itself or with its object's state. */
  void dropUnready(Predicate<Shipment> known) {
    for (Iterator<Shipment> it = unready.values().iterator(); it.hasNext(); ) {
      Shipment early = it.next();
      if (known.test(early)) {
        it.remove();
        unreadyBytes -= heapBytes(early);
      }
    }
  }

  private static long heapBytes(Shipment early) {
    return ENTRY_BYTES + early.heapBytes();
  }

  /** The peer cannot be asked at present. */
  void interrupted(long nowNanos) {
    interruptedNanos = interrupted ? interruptedNanos : nowNanos;
    interrupted = true;
  }

  /** The peer can be asked again, and was. */
  void goesOn() {
    interrupted = false;
  }

  /** Whether to ask once more for what was asked: frames may have been lost, or wait for long. */
  boolean mustAsk(long heardNanos) {
    return interrupted ? asking.isOpen() : asking.isDue(heardNanos);
  }
}
