package io.osier.proxy.session;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import org.jspecify.annotations.Nullable;

/**
 * A partition of a keyspace, as a session knows it. Guarded by the lock of its {@link
 * SessionContext}.
 */
public final class PartitionClock {
  private static final long NEVER = -1;

  private VersionVector seen = VersionVector.EMPTY;

  /** A replica of which a larger number was seen than {@link #seen} has: {@link #number}. */
  private @Nullable ReplicaId replica;

  private long number;

  /** In this epoch the present datacenter is known to cover what was seen. */
  long attachedIn = NEVER;

  /** Updates that were sent and have no answer yet. */
  public int writesUnderWay;

  VersionVector seen() {
    if (replica != null) {
      seen = seen.raised(replica, number);
      replica = null;
    }
    return seen;
  }

  public void saw(VersionVector vector) {
    seen = seen().join(vector);
  }

  /** Raises one replica's entry. Updates mostly raise the same one: a vector is made when read. */
  public void saw(Dot dot) {
    if (!dot.replica().equals(replica)) {
      seen();
      replica = dot.replica();
      number = dot.number();
    } else {
      number = Math.max(number, dot.number());
    }
  }

  /** From now on less was seen of a replica. */
  void lower(ReplicaId of, long to) {
    seen = seen().with(of, to);
    attachedIn = NEVER;
  }

  void forget() {
    seen = VersionVector.EMPTY;
    replica = null;
    attachedIn = NEVER;
  }
}
