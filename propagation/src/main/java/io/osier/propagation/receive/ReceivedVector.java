package io.osier.propagation.receive;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.CompactedLog;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Place;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Knows how much of every replica's updates is here, and how much the peers have reported. Not
 * thread-safe.
 *
 * <p>For each other replica it keeps a log: the objects in the order in which an update of that
 * replica last came here, so that a third datacenter can be given just what it lacks. The log is
 * cut where every peer has the same.
 */
public final class ReceivedVector {
  /**
   * An object of which updates of a replica were received.
   *
   * @param last the replica's last number in the object's context: a state may name more than the
   *     object's own updates, where some were forgotten
   * @param update the number of the replica's last update on the object if that was received as an
   *     update; otherwise 0
   */
  private record Touched(ObjectId object, long last, long update) {}

  /** An object, and the place of its last change in its origin's log. */
  public record Changed(Place place, ObjectId object) {}

  /** The objects that one replica has changed, in the order of their last change here. */
  private static final class OriginLog {
    final CompactedLog<Touched> changes;
    final Map<ObjectId, Long> changeOf = new HashMap<>();
    long prunedChange;
    long prunedLast;

    /** Nothing of the replica beyond this number is here; Long.MAX_VALUE if that is not known. */
    long far;

    OriginLog(long firstChange) {
      changes = new CompactedLog<>(firstChange);
    }

    void touch(ObjectId object, long last, long update) {
      far = Math.max(far, last);
      Long before = changeOf.put(object, changes.add(new Touched(object, last, update)));
      if (before != null) {
        changes.remove(before);
      }
    }

    /**
     * Returns the numbers of the last update on each object, ascending, as far as they are known
     * and above {@code number}.
     */
    long[] updatesAfter(long number) {
      LongStream.Builder updates = LongStream.builder();
      for (long tick = changes.next(0); tick != 0; tick = changes.next(tick)) {
        long update = changes.get(tick).update;
        if (update > number) {
          updates.add(update);
        }
      }
      return updates.build().sorted().toArray();
    }

    void prune(long stable) {
      for (long first = changes.next(0); first != 0; first = changes.next(first)) {
        Touched touched = changes.get(first);
        if (touched.last > stable) {
          break;
        }
        changes.remove(first);
        changeOf.remove(touched.object);
        prunedChange = first;
        prunedLast = Math.max(prunedLast, touched.last);
      }
    }
  }

  private final ReplicaId self;
  private final LongSupplier committed;
  private List<String> peers;
  private final long life;
  private final long firstChange;
  private final Map<ReplicaId, OriginLog> logs = new TreeMap<>();
  private final Map<String, Frame.Status> statuses = new HashMap<>();
  private final Map<String, ReplicaId> newest = new HashMap<>();
  private VersionVector through = VersionVector.EMPTY;
  private VersionVector stable = VersionVector.EMPTY;
  private long version;

  /**
   * @param committed returns the last commit number of this datacenter
   */
  public ReceivedVector(
      ReplicaId self, List<String> peers, RecoveredState recovered, LongSupplier committed) {
    this.committed = committed;
    this.self = self;
    this.peers = List.copyOf(peers);
    this.life = recovered.life();
    this.firstChange = recovered.firstChange();
    this.through = recovered.through();
    newest.put(self.dc(), self);
    for (ReplicaId r : recovered.replicas()) {
      if (!r.equals(self)) {
        meet(r);
        OriginLog log = log(r);
        // The order in which it came is forgotten, so a datacenter that lacks something is given
        // everything.
        log.prunedChange = log.changes.last();
        log.prunedLast = Long.MAX_VALUE;
        log.far = Long.MAX_VALUE; // so is how far incomplete updates reached
      }
    }
  }

  /**
   * Sets the peers. A new peer has nothing, so no update is everywhere any more; without a former
   * peer some may be.
   */
  public void setPeers(List<String> changed) {
    boolean grows = !peers.containsAll(changed);
    statuses.keySet().retainAll(changed);
    peers = List.copyOf(changed);
    if (grows) {
      stable = VersionVector.EMPTY;
    }
    for (ReplicaId replica : List.copyOf(logs.keySet())) {
      restabilise(replica);
    }
  }

  private OriginLog log(ReplicaId replica) {
    return logs.computeIfAbsent(replica, r -> new OriginLog(firstChange));
  }

  /** Learns of an incarnation of a datacenter. Returns whether it is newer than any before. */
  public boolean meet(ReplicaId replica) {
    ReplicaId known = newest.get(replica.dc());
    if (known == null || known.incarnation() < replica.incarnation()) {
      newest.put(replica.dc(), replica);
      statuses.remove(replica.dc());
      stable = VersionVector.EMPTY; // the newcomer has nothing, so no update is everywhere
      return true;
    }
    return false;
  }

  /** Whether no newer incarnation of the replica's datacenter is known. */
  public boolean isNewest(ReplicaId replica) {
    return replica.equals(newest.get(replica.dc()));
  }

  /** Returns the newest known incarnation of a datacenter; null if none is known. */
  public @Nullable ReplicaId newest(String dc) {
    return newest.get(dc);
  }

  /** Notes that a shipment has made an object's context grow. */
  void changed(Shipment shipment, CausalContext before, CausalContext after) {
    ObjectId object = shipment.object();
    for (int i = 0; i < after.size(); i++) {
      ReplicaId r = after.replica(i);
      long last = after.through(r);
      if (!r.equals(self) && last > before.through(r)) {
        boolean isUpdate = !shipment.content().isFull() && r.equals(shipment.origin());
        log(r).touch(object, last, isUpdate && last == shipment.last() ? last : 0);
        version++;
      }
    }
  }

  /** Notes that every update of a replica up to a number is here. Returns whether that is new. */
  public boolean complete(ReplicaId replica, long number) {
    if (number <= through.get(replica)) {
      return false;
    }
    through = through.raised(replica, number);
    version++;
    return true;
  }

  /** Returns the number up to which all updates of each other replica are here. */
  public VersionVector through() {
    return through;
  }

  /** Returns the same for every replica, this one included. */
  public VersionVector here() {
    return through.raised(self, committed.getAsLong());
  }

  /**
   * Returns for each replica a number such that no update beyond it is here, complete or not;
   * Long.MAX_VALUE where that is not known.
   */
  public VersionVector far() {
    VersionVector far = here();
    for (Map.Entry<ReplicaId, OriginLog> e : logs.entrySet()) {
      far = far.raised(e.getKey(), e.getValue().far);
    }
    return far;
  }

  /** Returns the number up to which every update of a replica is here. */
  public long here(ReplicaId replica) {
    return replica.equals(self) ? committed.getAsLong() : through.get(replica);
  }

  /** Returns a count of the changes of this vector; a status is due when it has grown. */
  public long version() {
    return version;
  }

  /**
   * Returns the life in which {@link #changes} are counted: each life counts from the beginning.
   */
  public long life() {
    return life;
  }

  /**
   * Returns for each other replica how many objects its updates have changed here in this life,
   * counting each change.
   */
  public VersionVector changes() {
    VersionVector changes = VersionVector.EMPTY;
    for (Map.Entry<ReplicaId, OriginLog> e : logs.entrySet()) {
      changes = changes.with(e.getKey(), e.getValue().changes.last());
    }
    return changes;
  }

  /** Returns the end of a replica's log. */
  public Place place(ReplicaId replica) {
    OriginLog log = logs.get(replica);
    return new Place(life, log == null ? 0 : log.changes.last());
  }

  /** Takes a peer's status, and drops what all peers have. */
  public void status(ReplicaId peer, Frame.Status status) {
    statuses.put(peer.dc(), status);
    OriginLog own = logs.get(peer);
    if (own != null && own.far == Long.MAX_VALUE) {
      // The forgotten part of its updates reached no further than that.
      own.far = status.committed();
    }
    for (int i = 0; i < status.through().size(); i++) {
      meet(status.through().replica(i));
      restabilise(status.through().replica(i));
    }
  }

  private void restabilise(ReplicaId replica) {
    long least = through.get(replica);
    for (String dc : peers) {
      if (!dc.equals(replica.dc()) || !isNewest(replica)) {
        Frame.Status status = statuses.get(dc);
        least = status == null ? 0 : Math.min(least, status.through().get(replica));
      }
    }
    if (least > stable.get(replica)) {
      stable = stable.with(replica, least);
    }
    OriginLog log = logs.get(replica);
    if (log != null) {
      log.prune(stable.get(replica));
    }
  }

  /** Returns the peer's last status; null if there is none. */
  public Frame.@Nullable Status status(String dc) {
    return statuses.get(dc);
  }

  /**
   * Returns the number up to which, by the statuses, every datacenter has each other replica's
   * updates.
   */
  public VersionVector everywhere() {
    return stable;
  }

  /**
   * Returns the updates of others that a new update must name because it builds on them: those that
   * are not yet everywhere.
   */
  public VersionVector needs(CausalContext context) {
    VersionVector needs = VersionVector.EMPTY;
    for (int i = 0; i < context.size(); i++) {
      ReplicaId r = context.replica(i);
      long seen = context.through(r);
      if (!r.equals(self) && seen > stable.get(r)) {
        needs = needs.with(r, seen);
      }
    }
    return needs;
  }

  /**
   * Whether a replica's log does not reach back to a place.
   *
   * @param after the asking datacenter has every update of the replica up to this number
   */
  public boolean isPruned(ReplicaId replica, Place place, long after) {
    OriginLog log = logs.get(replica);
    return log != null && change(place) < log.prunedChange && after < log.prunedLast;
  }

  /**
   * Returns the updates of an origin that were received beyond its complete ones: the number of the
   * last update on each object. A peer that has an object at this number has nothing of it to send.
   *
   * @param limit the largest number of ranges; the first ones are returned
   */
  public CausalContext besides(ReplicaId origin, int limit) {
    OriginLog log = logs.get(origin);
    long complete = through.get(origin);
    long[] lasts = log == null ? new long[0] : log.updatesAfter(complete);
    CausalContext.Builder besides = new CausalContext.Builder();
    int i = 0;
    for (int ranges = 0; i < lasts.length && ranges < limit; ranges++) {
      long after = lasts[i] - 1;
      while (i + 1 < lasts.length && lasts[i + 1] == lasts[i] + 1) {
        i++;
      }
      besides.add(origin, after, lasts[i++]);
    }
    return besides.build();
  }

  /** Returns the same as {@link #besides}, with the range of the complete updates before it. */
  public CausalContext there(ReplicaId origin, int limit) {
    CausalContext besides = besides(origin, limit);
    long complete = through.get(origin);
    return complete == 0 ? besides : besides.withRange(origin, 0, complete);
  }

  /**
   * Returns a place's count in this life: a place of another life is before all places of this one.
   */
  private long change(Place place) {
    return place.life() == life ? place.change() : 0;
  }

  /** Returns the objects that the replica changed after a place, oldest first. */
  public List<Changed> changedAfter(ReplicaId replica, Place place, int limit) {
    OriginLog log = logs.get(replica);
    List<Changed> found = new ArrayList<>();
    if (log != null) {
      long next = log.changes.next(change(place));
      while (next != 0 && found.size() < limit) {
        found.add(new Changed(new Place(life, next), log.changes.get(next).object));
        next = log.changes.next(next);
      }
    }
    return found;
  }
}
