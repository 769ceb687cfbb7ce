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

/**
 * One repair in progress: an origin's updates that are fetched from one peer, page by page. Not
 * thread-safe.
 */
final class Repair {
  /** The bytes that an entry of {@link #unready} takes in the heap besides the update. */
  private static final long ENTRY_BYTES = HeapSize.object(6 * HeapSize.REFERENCE);

  final ReplicaId peer;
  final long after;
  final CausalContext besides;
  final RequestRetry asking;
  Frame.Page page;

  /**
   * Received updates that build on something which is not here; the repair ends when it was
   * received.
   */
  final Map<ObjectId, Shipment> unready = new TreeMap<>();

  /** The bytes that the unready updates take in the heap. */
  long unreadyBytes;

  /** Whether the next page is requested only when some unready updates have been applied. */
  boolean paused;

  /** The last page, once it is here; null before. */
  Frame.@Nullable States last;

  /** When the states of the objects of unready updates are fetched. */
  long fetchNanos;

  /**
   * Whether the link to the peer went down and nothing was requested since; and when it went down.
   */
  private boolean interrupted;

  private long interruptedNanos;

  /** Whether the origin ships its updates itself; and since when. */
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

  /** Whether the repair has been cut off, or has not been needed, for this time. */
  boolean isGivenUp(long nowNanos, long afterNanos) {
    return (interrupted && nowNanos - interruptedNanos >= afterNanos)
        || (needless && last == null && nowNanos - needlessNanos >= afterNanos);
  }

  /** Keeps a received update that builds on something which is not here. */
  void keep(Shipment early) {
    Shipment before = unready.put(early.object(), early);
    unreadyBytes += heapBytes(early) - (before == null ? 0 : heapBytes(before));
  }

  /**
   * Drops unready updates that are known meanwhile, from another sender or in their object's state.
   */
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

  /** Notes that the peer cannot be asked at present. */
  void interrupted(long nowNanos) {
    interruptedNanos = interrupted ? interruptedNanos : nowNanos;
    interrupted = true;
  }

  /** Notes that the peer can be asked again, and was. */
  void goesOn() {
    interrupted = false;
  }

  /** Whether to repeat the request: frames may have been lost, or the answer is long overdue. */
  boolean mustAsk(long heardNanos) {
    return interrupted ? asking.isOpen() : asking.isDue(heardNanos);
  }
}
