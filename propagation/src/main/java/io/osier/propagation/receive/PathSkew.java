package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.AckTimeEstimate;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * How much later an update comes from its origin than something that saw it comes from a third
 * datacenter, as measured: where the straight way is the longer one, every such update must wait,
 * and fetching the object's state would cost much and bring nothing sooner. Not thread-safe.
 *
 * <p>Of each sender and origin one update is awaited at a time, so what this keeps is bounded by
 * the datacenters.
 */
final class PathSkew {
  /** How long an update is held at least for one that is on its way. */
  private static final long GRACE_NANOS_MIN = 100_000_000;

  private record Path(String sender, String origin) {}

  private record Awaited(ObjectId object, long number, long sinceNanos) {}

  private final long graceNanosMax;
  private final Map<Path, Awaited> awaited = new HashMap<>();
  private final Map<String, AckTimeEstimate> waits = new HashMap<>();

  /**
   * @param graceNanosMax what takes longer is as good as lost
   */
  PathSkew(long graceNanosMax) {
    this.graceNanosMax = Math.max(graceNanosMax, GRACE_NANOS_MIN);
  }

  /** How long an update that came from a datacenter is held before the state is fetched. */
  long graceNanos(String sender) {
    AckTimeEstimate wait = waits.get(sender);
    return wait == null ? GRACE_NANOS_MIN : Math.min(GRACE_NANOS_MIN + wait.nanos(), graceNanosMax);
  }

  /** An update came, and is held because it has seen of its object what has not come. */
  void early(String sender, ObjectId object, VersionVector missing, long nowNanos) {
    for (int i = 0; i < missing.size(); i++) {
      Path path = new Path(sender, missing.replica(i).dc());
      Awaited before = awaited.get(path);
      if (before == null || nowNanos - before.sinceNanos > graceNanosMax) {
        awaited.put(path, new Awaited(object, missing.number(i), nowNanos));
      }
    }
  }

  /** An update came from its origin, by whatever means its content may have come before. */
  void arrived(ReplicaId origin, ObjectId object, long last, long nowNanos) {
    if (awaited.isEmpty()) {
      return;
    }
    for (Iterator<Map.Entry<Path, Awaited>> it = awaited.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Path, Awaited> entry = it.next();
      Awaited one = entry.getValue();
      Path path = entry.getKey(); // what an entry is once it is removed is not defined
      if (path.origin.equals(origin.dc()) && one.object.equals(object) && last >= one.number) {
        it.remove();
        long waited = nowNanos - one.sinceNanos;
        if (waited <= graceNanosMax) {
          waits.computeIfAbsent(path.sender, s -> new AckTimeEstimate()).sample(waited, nowNanos);
        }
      }
    }
  }

  /** The origin's stream was interrupted: what comes late now tells nothing about the way. */
  void interrupted(String origin) {
    awaited.keySet().removeIf(path -> path.origin.equals(origin));
  }
}
