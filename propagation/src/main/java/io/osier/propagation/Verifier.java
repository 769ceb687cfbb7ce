package io.osier.propagation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares what a store kept with what the peers have, after a start that may have lost something
 * that was acknowledged: the tail of what was written without waiting for the disk, or all since a
 * backup.
 *
 * <p>Why is that needed? What removes an object is forgotten when every datacenter has acknowledged
 * it. If one of them loses it afterwards, it holds the object again, and nobody is left to tell.
 * So, before it takes anything else from a peer, it asks it, page by page, which of its objects the
 * peer knew more of than it still remembers. Not thread-safe.
 */
final class Verifier {
  private static final int PAGE = 256;

  private static final class UnderWay {
    Optional<ObjectId> done = Optional.empty();
    List<Frame.Known> page;
    long sentNanos;
  }

  private final Replica replica;
  private final FrameSink sink;
  private final long retryNanos;
  private final Map<String, UnderWay> open = new HashMap<>();

  /**
   * Compares with each peer, or with none.
   *
   * @param needed whether something that was acknowledged may be lost
   */
  Verifier(
      boolean needed, Iterable<String> peers, Replica replica, FrameSink sink, long retryNanos) {
    this.replica = replica;
    this.sink = sink;
    this.retryNanos = retryNanos;
    if (needed) {
      peers.forEach(dc -> open.put(dc, new UnderWay()));
    }
  }

  /** Whether a peer's updates can be taken. */
  boolean isDone(String dc) {
    return !open.containsKey(dc);
  }

  /** Asks the peer for the next page, or again. Returns whether there is nothing more to ask. */
  boolean ask(String dc, long nowNanos) {
    UnderWay underWay = open.get(dc);
    if (underWay == null) {
      return true;
    }
    if (underWay.page == null) {
      underWay.page = page(underWay.done);
    } else if (nowNanos - underWay.sentNanos < retryNanos) {
      return false;
    }
    if (underWay.page.isEmpty()) {
      open.remove(dc);
      return true;
    }
    underWay.sentNanos = nowNanos;
    sink.send(dc, new Frame.Verify(underWay.page));
    return false;
  }

  private List<Frame.Known> page(Optional<ObjectId> after) {
    List<Frame.Known> page = new ArrayList<>();
    for (Replica.Entry entry : replica.scan(after, PAGE)) {
      page.add(new Frame.Known(entry.object(), entry.state().context().toVersionVector()));
    }
    return page;
  }

  /** The peer answered, and the answer was applied. Returns whether it was the one waited for. */
  boolean answered(String dc, ObjectId last) {
    UnderWay underWay = open.get(dc);
    if (underWay == null
        || underWay.page == null
        || !underWay.page.getLast().object().equals(last)) {
      return false;
    }
    underWay.done = Optional.of(last);
    underWay.page = null;
    return true;
  }

  /** Frames to the peer may have been lost. */
  void down(String dc) {
    UnderWay underWay = open.get(dc);
    if (underWay != null) {
      underWay.page = null;
    }
  }

  /** When {@link #ask} has something to repeat; Long.MAX_VALUE if never. */
  long nextNanos(String dc) {
    UnderWay underWay = open.get(dc);
    return underWay == null || underWay.page == null
        ? Long.MAX_VALUE
        : underWay.sentNanos + retryNanos;
  }
}
