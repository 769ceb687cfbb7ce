package io.osier.proxy.session;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import org.jspecify.annotations.Nullable;

/** What a session has seen of one partition. Guarded by the lock of its {@link SessionContext}. */
public final class PartitionClock {
  private static final long NEVER = -1;

  private VersionVector seen = VersionVector.EMPTY;

  /**
   * The replica of which a larger number was seen than {@link #seen} has, which is {@link #number};
   * null if none.
   */
  private @Nullable ReplicaId replica;

  private long number;

  /** The epoch in which the present datacenter has proved that it covers what was seen. */
  long attachedIn = NEVER;

  /** How many updates were sent that have no answer yet. */
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

  /**
   * Raises one replica's number. Successive updates mostly raise the same one, so the vector is
   * only made when it is read.
   */
  public void saw(Dot dot) {
    if (!dot.replica().equals(replica)) {
      seen();
      replica = dot.replica();
      number = dot.number();
    } else {
      number = Math.max(number, dot.number());
    }
  }

  /** Lowers a replica's number to what was not given up. */
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
