package io.osier.propagation.net;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.propagation.net.link.KeyspaceAgreement;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Knows which keyspaces are replicated over one connection: the fingerprints that each end has sent
 * last, and the keyspaces on which both agree. Changed in the connection's loop.
 */
final class AgreedKeyspaces {
  private final PeeringContext peering;
  private List<String> mine = List.of();
  private List<String> theirs = List.of();

  /** The keyspaces by the other end's numbers. */
  private List<String> names = List.of();

  private Set<String> agreed = Set.of();

  AgreedKeyspaces(PeeringContext peering) {
    this.peering = peering;
  }

  /** Returns the fingerprints that this end has sent last. */
  List<String> mine() {
    return mine;
  }

  /** Notes the fingerprints that this end sends. */
  void setMine(List<String> fingerprints) {
    mine = fingerprints;
  }

  /**
   * Whether this end's fingerprints have changed since it last sent them; notes the present ones.
   */
  boolean haveChanged(String dc) {
    List<String> now = peering.fingerprints().apply(dc);
    boolean haveChanged = !now.equals(mine);
    mine = now;
    return haveChanged;
  }

  /** Notes the fingerprints that the other end has sent. */
  void setTheirs(List<String> fingerprints) {
    theirs = fingerprints;
    names = fingerprints.stream().map(KeyspaceAgreement::name).toList();
  }

  /** Compares the fingerprints of both ends. */
  void compare(String dc) {
    List<String> both = peering.compare(dc, mine, theirs).agreed();
    agreed = Collections.unmodifiableSet(new LinkedHashSet<>(both));
  }

  /** Returns the keyspaces on which both ends agree, in the order of this end's fingerprints. */
  Set<String> agreed() {
    return agreed;
  }

  /**
   * Returns a keyspace's name by the other end's number for it.
   *
   * @throws OsierException MALFORMED if the other end has sent no fingerprint with this number
   */
  String name(int number) {
    if (number >= names.size()) {
      throw new OsierException(
          ErrorCode.MALFORMED, "keyspace " + number + " is not one of " + names);
    }
    return names.get(number);
  }
}
