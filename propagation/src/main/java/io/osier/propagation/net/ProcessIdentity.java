package io.osier.propagation.net;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.PeerVersions;
import java.util.List;

/**
 * The identity of a process that runs a datacenter.
 *
 * @param replica the datacenter and its incarnation
 * @param cluster only datacenters of one cluster talk to each other
 * @param start which start of the incarnation it is: a random number, 1 or larger, that no other
 *     process of that name has
 * @param former the earlier starts that its store knows, newest first; the first {@link
 *     #FORMER_MAX} count
 * @param version the newest version of the peer protocol that it speaks, from {@link
 *     PeerVersions#OLDEST} on
 */
public record ProcessIdentity(
    ReplicaId replica, String cluster, long start, List<Long> former, int version) {
  /** The most former starts that are reported to peers. */
  public static final int FORMER_MAX = PeerIdentities.FORMER_MAX;

  /** Creates the identity of a process that speaks the newest version. */
  public ProcessIdentity(ReplicaId replica, String cluster, long start, List<Long> former) {
    this(replica, cluster, start, former, PeerVersions.NEWEST);
  }

  public ProcessIdentity {
    former = List.copyOf(former.subList(0, Math.min(former.size(), FORMER_MAX)));
    if (start < 1) {
      throw new IllegalArgumentException("a start's number must be 1 or larger, not " + start);
    }
  }
}
