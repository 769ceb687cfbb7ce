package io.osier.core.codec;

import io.osier.core.ReplicaId;
import io.osier.core.Utf8;
import org.jspecify.annotations.Nullable;

/**
 * The replicas that a {@link WireInput} has read last, so that a repeated one is not created again.
 * Not thread-safe.
 */
final class RecentReplicas {
  /** More than there are datacenters. */
  private static final int KEPT = 16;

  private final @Nullable ReplicaId[] kept = new ReplicaId[KEPT];
  private int next;

  /** Returns the kept replica with the name that these bytes encode; null if there is none. */
  @Nullable ReplicaId find(byte[] bytes, int from, int length, long incarnation) {
    for (ReplicaId known : kept) {
      if (known == null) {
        break;
      }
      if (known.incarnation() == incarnation && Utf8.isAscii(bytes, from, length, known.dc())) {
        return known;
      }
    }
    return null;
  }

  /** Keeps a replica in the place of the oldest kept one, and returns it. */
  ReplicaId keep(ReplicaId replica) {
    kept[next] = replica;
    next = (next + 1) % KEPT;
    return replica;
  }
}
