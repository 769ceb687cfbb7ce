package io.osier.propagation.repair;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.pull.RequestRetry;
import io.osier.propagation.wire.Frame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Compares what the store kept with what the peers have, after a start that may have lost
 * acknowledged updates: the last ones, written without waiting for the disk, or all since a backup.
 *
 * <p>Why is that needed? The removal of an object is forgotten when every datacenter has
 * acknowledged it. If one of them loses it afterwards, it holds the object again, and no other
 * datacenter remembers the removal. So before it takes anything else from a peer, it asks the peer,
 * page by page, for which of its objects the peer has seen updates that it no longer remembers. Not
 * thread-safe.
 */
public final class Verifier {
  /**
   * About how many bytes an object takes besides its key, and each entry of its vector, at most.
   */
  private static final int KNOWN_BYTES = 16;

  private static final class UnderWay {
    final RequestRetry asking;
    Optional<ObjectId> done = Optional.empty();

    /** The objects that were sent and are not answered yet; empty if there are none. */
    List<Frame.Known> page = List.of();

    UnderWay(RequestRetry asking) {
      this.asking = asking;
    }
  }

  private final ReplicationContext around;
  private final LongSupplier numbers;
  private final Map<String, UnderWay> open = new HashMap<>();

  /**
   * Whether something may be lost and was not compared with all peers yet. Every datacenter had
   * whatever was forgotten, so datacenters that join later need not be asked.
   */
  private boolean needed;

  /**
   * Creates a comparison with each peer, or with none.
   *
   * @param needed whether acknowledged updates may be lost
   */
  public Verifier(ReplicationContext around, boolean needed, LongSupplier numbers) {
    this.around = around;
    this.numbers = numbers;
    this.needed = needed;
    around.peers().forEach(this::add);
  }

  /** Adds a peer: the configuration may name none, and the others name it later. */
  public void add(String dc) {
    if (needed) {
      open.put(dc, new UnderWay(new RequestRetry(numbers, around.retryNanos())));
    }
  }

  /** Whether a peer's updates may be taken. */
  public boolean isDone(String dc) {
    return !open.containsKey(dc);
  }

  /** Whether all peers' updates may be taken. */
  public boolean isDone() {
    return open.isEmpty();
  }

  /**
   * Sends a peer the next page, or repeats it. Returns whether there is nothing more to ask.
   *
   * @param heardNanos when the peer was last heard
   */
  public boolean ask(ReplicaId peer, long heardNanos, long nowNanos) {
    UnderWay underWay = open.get(peer.dc());
    if (underWay == null) {
      return true;
    }
    if (underWay.asking.isOpen()) {
      if (underWay.asking.isDue(heardNanos)) {
        around
            .sink()
            .send(peer, new Frame.Verify(underWay.asking.askAgain(nowNanos), underWay.page));
      }
      return false;
    }
    if (underWay.page.isEmpty()) {
      underWay.page = page(underWay.done);
    }
    if (underWay.page.isEmpty()) {
      open.remove(peer.dc());
      needed = !open.isEmpty();
      return true;
    }
    around.sink().send(peer, new Frame.Verify(underWay.asking.ask(nowNanos), underWay.page));
    return false;
  }

  private List<Frame.Known> page(Optional<ObjectId> after) {
    List<Frame.Known> page = new ArrayList<>();
    ObjectWalk walk = new ObjectWalk(around, after);
    int bytes = 0;
    while (bytes < around.settings().frameBytes()) {
      StoredObjects.Entry entry = walk.next();
      if (entry == null) {
        break;
      }
      VersionVector through = entry.state().context().toVersionVector();
      page.add(new Frame.Known(entry.object(), through));
      bytes += entry.object().key().length() + KNOWN_BYTES * (1 + through.size());
    }
    return page;
  }

  /** Notes that the peer's answer was applied. Returns whether it was the expected one. */
  public boolean answered(String dc, Frame.Verified answer, long nowNanos) {
    UnderWay underWay = open.get(dc);
    if (underWay == null || !underWay.asking.answered(answer.request(), nowNanos)) {
      return false;
    }
    int answered = 0;
    for (Frame.Known known : underWay.page) {
      if (known.object().compareTo(answer.last()) <= 0) {
        answered++;
      }
    }
    underWay.page = List.copyOf(underWay.page.subList(answered, underWay.page.size()));
    underWay.done = Optional.of(answer.last());
    return true;
  }

  /** Ends the comparison with a datacenter. */
  public void remove(String dc) {
    open.remove(dc);
  }

  /** Notes that frames to or from the peer may have been lost. */
  public void down(String dc) {
    UnderWay underWay = open.get(dc);
    if (underWay != null) {
      underWay.asking.cancel();
      underWay.page = List.of();
    }
  }

  /**
   * Whether {@link #ask} has something to repeat.
   *
   * @param heardNanos when the peer was last heard
   */
  public boolean isDue(String dc, long heardNanos) {
    UnderWay underWay = open.get(dc);
    return underWay != null && underWay.asking.isDue(heardNanos);
  }
}
