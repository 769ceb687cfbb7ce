package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.AckTimeEstimate;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Measures how much later an update comes from its origin than a dependent update comes from a
 * third datacenter. Where the direct path is the slower one, every such update must wait, and
 * fetching the object's state would cost much and bring nothing sooner. Not thread-safe.
 *
 * <p>One update is awaited at a time for each sender and origin, so the number of datacenters
 * bounds what this keeps.
 */
final class PathSkew {
  /** An update waits at least this long for an update that is on its way. */
  private static final long GRACE_NANOS_MIN = 100_000_000;

  private record Path(String sender, String origin) {}

  private record Awaited(ObjectId object, long number, long sinceNanos) {}

  private final long graceNanosMax;
  private final Map<Path, Awaited> awaited = new HashMap<>();
  private final Map<String, AckTimeEstimate> waits = new HashMap<>();

  /**
   * @param graceNanosMax an update that takes longer counts as lost
   */
  PathSkew(long graceNanosMax) {
    this.graceNanosMax = Math.max(graceNanosMax, GRACE_NANOS_MIN);
  }

  /** Returns how long an update from a datacenter waits before the object's state is fetched. */
  long graceNanos(String sender) {
    AckTimeEstimate wait = waits.get(sender);
    return wait == null ? GRACE_NANOS_MIN : Math.min(GRACE_NANOS_MIN + wait.nanos(), graceNanosMax);
  }

  /**
   * Notes that an update came and waits, because it has seen updates of its object that have not
   * come.
   */
  void early(String sender, ObjectId object, VersionVector missing, long nowNanos) {
    for (int i = 0; i < missing.size(); i++) {
      Path path = new Path(sender, missing.replica(i).dc());
      Awaited before = awaited.get(path);
      if (before == null || nowNanos - before.sinceNanos > graceNanosMax) {
        awaited.put(path, new Awaited(object, missing.number(i), nowNanos));
      }
    }
  }

  /** Notes that an update came from its origin, even if its content came before in another way. */
  void arrived(ReplicaId origin, ObjectId object, long last, long nowNanos) {
    if (awaited.isEmpty()) {
      return;
    }
    for (Iterator<Map.Entry<Path, Awaited>> it = awaited.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Path, Awaited> entry = it.next();
      Awaited one = entry.getValue();
      // Read before the removal, after which an entry's key is undefined.
      Path path = entry.getKey();
      if (path.origin.equals(origin.dc()) && one.object.equals(object) && last >= one.number) {
        it.remove();
        long waited = nowNanos - one.sinceNanos;
        if (waited <= graceNanosMax) {
          waits.computeIfAbsent(path.sender, s -> new AckTimeEstimate()).sample(waited, nowNanos);
        }
      }
    }
  }

  /**
   * Forgets the awaited frames of an origin whose stream was interrupted: their delay says nothing
   * about the path.
   */
  void interrupted(String origin) {
    awaited.keySet().removeIf(path -> path.origin.equals(origin));
  }
}
