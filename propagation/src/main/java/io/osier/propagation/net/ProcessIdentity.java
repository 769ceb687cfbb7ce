package io.osier.propagation.net;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.PeerVersions;
import java.util.List;

/**
 * The process that bears a datacenter's name.
 *
 * @param replica which datacenter it is, in which of its lives
 * @param cluster only datacenters of one cluster talk to each other
 * @param start which start of the life it is: a random number, 1 or larger, that no other process
 *     of that name has
 * @param former the starts that its store knows of before this one, newest first; the first {@link
 *     #FORMER_MAX} count
 * @param version the newest of the protocol that it speaks, from {@link PeerVersions#OLDEST} on
 */
public record ProcessIdentity(
    ReplicaId replica, String cluster, long start, List<Long> former, int version) {
  /** So many former starts are told. */
  public static final int FORMER_MAX = PeerIdentities.FORMER_MAX;

  /** One that speaks the newest version that there is. */
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
