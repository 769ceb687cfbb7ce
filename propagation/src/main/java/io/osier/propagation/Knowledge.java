package io.osier.propagation;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Frame.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is here of every replica, and what the peers say is there. Not thread-safe.
 *
 * <p>For each other replica it keeps a trail: the objects in the order in which something of that
 * replica last came here, so that a third datacenter can be given just what it lacks. The trail is
 * cut where every peer has the same.
 */
final class Knowledge {
  private record Touched(ObjectId object, long last) {}

  /** An object and the place of its last change in its origin's trail. */
  record Changed(Place place, ObjectId object) {}

  /** One replica's objects, in the order of their last change here. */
  private static final class OriginTrail {
    final TreeMap<Long, Touched> byChange = new TreeMap<>();
    final Map<ObjectId, Long> changeOf = new HashMap<>();
    long changes;
    long prunedChange;
    long prunedLast;

    void touch(ObjectId object, long last) {
      changes++;
      Long before = changeOf.put(object, changes);
      if (before != null) {
        byChange.remove(before);
      }
      byChange.put(changes, new Touched(object, last));
    }

    void prune(long stable) {
      while (!byChange.isEmpty() && byChange.firstEntry().getValue().last <= stable) {
        Map.Entry<Long, Touched> first = byChange.pollFirstEntry();
        changeOf.remove(first.getValue().object);
        prunedChange = first.getKey();
        prunedLast = Math.max(prunedLast, first.getValue().last);
      }
    }
  }

  private final ReplicaId self;
  private final List<String> peers;
  private final long life;
  private final long firstChange;
  private final Map<ReplicaId, OriginTrail> trails = new TreeMap<>();
  private final Map<String, Frame.Status> statuses = new HashMap<>();
  private final Map<String, ReplicaId> newest = new HashMap<>();
  private VersionVector through = VersionVector.EMPTY;
  private VersionVector stable = VersionVector.EMPTY;
  private long version;

  Knowledge(ReplicaId self, List<String> peers, Recovered recovered) {
    this.self = self;
    this.peers = List.copyOf(peers);
    this.life = recovered.life();
    this.firstChange = recovered.firstChange();
    this.through = recovered.through();
    newest.put(self.dc(), self);
    for (ReplicaId r : recovered.replicas()) {
      if (!r.equals(self)) {
        meet(r);
        OriginTrail trail = trail(r);
        // In which order it came is forgotten: whoever lacks something is given everything.
        trail.prunedChange = trail.changes;
        trail.prunedLast = Long.MAX_VALUE;
      }
    }
  }

  private OriginTrail trail(ReplicaId replica) {
    return trails.computeIfAbsent(
        replica,
        r -> {
          OriginTrail trail = new OriginTrail();
          trail.changes = firstChange;
          return trail;
        });
  }

  /** Learns of an incarnation of a datacenter. Returns whether it is newer than any before. */
  boolean meet(ReplicaId replica) {
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
  boolean isNewest(ReplicaId replica) {
    return replica.equals(newest.get(replica.dc()));
  }

  ReplicaId newest(String dc) {
    return newest.get(dc);
  }

  /** Notes that an object's context has grown. */
  void changed(ObjectId object, CausalContext before, CausalContext after) {
    for (int i = 0; i < after.size(); i++) {
      ReplicaId r = after.replica(i);
      long last = after.through(r);
      if (!r.equals(self) && last > before.through(r)) {
        trail(r).touch(object, last);
        version++;
      }
    }
  }

  /** Notes that every update of the replica up to a number is here. Returns whether that is new. */
  boolean complete(ReplicaId replica, long number) {
    if (number <= through.get(replica)) {
      return false;
    }
    through = through.raised(replica, number);
    version++;
    return true;
  }

  /** What is here of every other replica, completely. */
  VersionVector through() {
    return through;
  }

  /** Counts what changed here; a status is due when it differs. */
  long version() {
    return version;
  }

  /** The life in which {@link #changes} are counted: in each they begin anew. */
  long life() {
    return life;
  }

  /** How often something of each other replica came here in this life. */
  VersionVector changes() {
    VersionVector changes = VersionVector.EMPTY;
    for (Map.Entry<ReplicaId, OriginTrail> e : trails.entrySet()) {
      changes = changes.with(e.getKey(), e.getValue().changes);
    }
    return changes;
  }

  /** The end of the replica's trail. */
  Place place(ReplicaId replica) {
    OriginTrail trail = trails.get(replica);
    return new Place(life, trail == null ? 0 : trail.changes);
  }

  /** Takes a peer's status, and forgets what all peers have. */
  void status(ReplicaId peer, Frame.Status status) {
    statuses.put(peer.dc(), status);
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
    OriginTrail trail = trails.get(replica);
    if (trail != null) {
      trail.prune(stable.get(replica));
    }
  }

  /** The peer's last status, or null. */
  Frame.Status status(String dc) {
    return statuses.get(dc);
  }

  /** What every datacenter has of each other replica, as far as their statuses tell. */
  VersionVector everywhere() {
    return stable;
  }

  /** What a new update must name of the others' updates it builds on: those not yet everywhere. */
  VersionVector needs(CausalContext context) {
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
   * Whether the trail of the replica does not reach back to a place.
   *
   * @param after whoever asks has every update of the replica up to here
   */
  boolean isPruned(ReplicaId replica, Place place, long after) {
    OriginTrail trail = trails.get(replica);
    return trail != null && change(place) < trail.prunedChange && after < trail.prunedLast;
  }

  /**
   * What came of an origin behind what is complete of it: the number of the last update on each
   * object. Whoever has the object at this number has nothing to give.
   *
   * @param limit at most so many ranges: the first ones
   */
  CausalContext besides(ReplicaId origin, int limit) {
    OriginTrail trail = trails.get(origin);
    long complete = through.get(origin);
    long[] lasts =
        trail == null
            ? new long[0]
            : trail.byChange.values().stream()
                .mapToLong(Touched::last)
                .filter(last -> last > complete)
                .sorted()
                .distinct()
                .toArray();
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

  /** A place's count in this life: one of another life is before all of this one. */
  private long change(Place place) {
    return place.life() == life ? place.change() : 0;
  }

  /** The objects changed by the replica after a place, oldest first. */
  List<Changed> changedAfter(ReplicaId replica, Place place, int limit) {
    OriginTrail trail = trails.get(replica);
    List<Changed> found = new ArrayList<>();
    if (trail != null) {
      for (Map.Entry<Long, Touched> e : trail.byChange.tailMap(change(place), false).entrySet()) {
        if (found.size() == limit) {
          break;
        }
        found.add(new Changed(new Place(life, e.getKey()), e.getValue().object));
      }
    }
    return found;
  }
}
