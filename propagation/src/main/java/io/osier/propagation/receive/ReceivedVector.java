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
 * What is here of every replica, and what the peers say is there. Not thread-safe.
 *
 * <p>For each other replica it keeps a log: the objects in the order in which something of that
 * replica last came here, so that a third datacenter can be given just what it lacks. The log is
 * cut where every peer has the same.
 */
public final class ReceivedVector {
  /**
   * An object that something of a replica came for.
   *
   * @param last how far its context reaches: a state names more than the object's own updates,
   *     where some were forgotten
   * @param update the replica's last update on the object, if it came as an update; 0 otherwise
   */
  private record Touched(ObjectId object, long last, long update) {}

  /** An object and the place of its last change in its origin's log. */
  public record Changed(Place place, ObjectId object) {}

  /** One replica's objects, in the order of their last change here. */
  private static final class OriginLog {
    final CompactedLog<Touched> changes;
    final Map<ObjectId, Long> changeOf = new HashMap<>();
    long prunedChange;
    long prunedLast;

    /** Nothing of the replica that is here is beyond this. */
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

    /** The last update on each object, where it is known and after a number, in their order. */
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
   * @param committed the last commit number here
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
        // In which order it came is forgotten: whoever lacks something is given everything.
        log.prunedChange = log.changes.last();
        log.prunedLast = Long.MAX_VALUE;
        log.far = Long.MAX_VALUE; // how far what came beside what is complete reached, too
      }
    }
  }

  /**
   * From now on these are the peers. Who is new has nothing, so nothing is everywhere; what waited
   * for who is gone may be.
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
      stable = VersionVector.EMPTY; // the newcomer has nothing, so nothing is everywhere
      return true;
    }
    return false;
  }

  /** Whether no newer incarnation of its datacenter is known. */
  public boolean isNewest(ReplicaId replica) {
    return replica.equals(newest.get(replica.dc()));
  }

  /** The newest incarnation of a datacenter that was heard of, or null. */
  public @Nullable ReplicaId newest(String dc) {
    return newest.get(dc);
  }

  /** Notes that an object's context has grown by what came. */
  void changed(Shipment came, CausalContext before, CausalContext after) {
    ObjectId object = came.object();
    for (int i = 0; i < after.size(); i++) {
      ReplicaId r = after.replica(i);
      long last = after.through(r);
      if (!r.equals(self) && last > before.through(r)) {
        boolean isUpdate = !came.content().isFull() && r.equals(came.origin());
        log(r).touch(object, last, isUpdate && last == came.last() ? last : 0);
        version++;
      }
    }
  }

  /** Notes that every update of the replica up to a number is here. Returns whether that is new. */
  public boolean complete(ReplicaId replica, long number) {
    if (number <= through.get(replica)) {
      return false;
    }
    through = through.raised(replica, number);
    version++;
    return true;
  }

  /** What is here of every other replica, completely. */
  public VersionVector through() {
    return through;
  }

  /** What is here of every replica, completely, this one included. */
  public VersionVector here() {
    return through.raised(self, committed.getAsLong());
  }

  /**
   * Nothing that is here of any replica is beyond this: complete or not. Where that is not known,
   * it is the largest number.
   */
  public VersionVector far() {
    VersionVector far = here();
    for (Map.Entry<ReplicaId, OriginLog> e : logs.entrySet()) {
      far = far.raised(e.getKey(), e.getValue().far);
    }
    return far;
  }

  /** Every update of the replica up to this number is here. */
  public long here(ReplicaId replica) {
    return replica.equals(self) ? committed.getAsLong() : through.get(replica);
  }

  /** Counts what changed here; a status is due when it differs. */
  public long version() {
    return version;
  }

  /** The life in which {@link #changes} are counted: in each they begin anew. */
  public long life() {
    return life;
  }

  /** How often something of each other replica came here in this life. */
  public VersionVector changes() {
    VersionVector changes = VersionVector.EMPTY;
    for (Map.Entry<ReplicaId, OriginLog> e : logs.entrySet()) {
      changes = changes.with(e.getKey(), e.getValue().changes.last());
    }
    return changes;
  }

  /** The end of the replica's log. */
  public Place place(ReplicaId replica) {
    OriginLog log = logs.get(replica);
    return new Place(life, log == null ? 0 : log.changes.last());
  }

  /** Takes a peer's status, and forgets what all peers have. */
  public void status(ReplicaId peer, Frame.Status status) {
    statuses.put(peer.dc(), status);
    OriginLog own = logs.get(peer);
    if (own != null && own.far == Long.MAX_VALUE) {
      own.far = status.committed(); // it was no less when this one has forgotten what it had of it
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

  /** The peer's last status, or null. */
  public Frame.@Nullable Status status(String dc) {
    return statuses.get(dc);
  }

  /** What every datacenter has of each other replica, as far as their statuses tell. */
  public VersionVector everywhere() {
    return stable;
  }

  /** What a new update must name of the others' updates it builds on: those not yet everywhere. */
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
   * Whether the log of the replica does not reach back to a place.
   *
   * @param after whoever asks has every update of the replica up to here
   */
  public boolean isPruned(ReplicaId replica, Place place, long after) {
    OriginLog log = logs.get(replica);
    return log != null && change(place) < log.prunedChange && after < log.prunedLast;
  }

  /**
   * What came of an origin behind what is complete of it: the number of the last update on each
   * object. Whoever has the object at this number has nothing to give.
   *
   * @param limit at most so many ranges: the first ones
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

  /** As {@link #besides}, after the range of what is complete. */
  public CausalContext there(ReplicaId origin, int limit) {
    CausalContext besides = besides(origin, limit);
    long complete = through.get(origin);
    return complete == 0 ? besides : besides.withRange(origin, 0, complete);
  }

  /** A place's count in this life: one of another life is before all of this one. */
  private long change(Place place) {
    return place.life() == life ? place.change() : 0;
  }

  /** The objects changed by the replica after a place, oldest first. */
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
