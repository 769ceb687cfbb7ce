package io.osier.propagation.net;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.propagation.net.link.KeyspaceAgreement;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Which keyspaces travel on one connection: what each end has named last, and what both see alike.
 * Changed in the connection's loop.
 */
final class AgreedKeyspaces {
  private final PeeringContext peering;
  private List<String> mine = List.of();
  private List<String> theirs = List.of();

  /** As the other end numbers the keyspaces. */
  private List<String> names = List.of();

  private Set<String> agreed = Set.of();

  AgreedKeyspaces(PeeringContext peering) {
    this.peering = peering;
  }

  /** The fingerprints that this end has named last. */
  List<String> mine() {
    return mine;
  }

  /** This end names these. */
  void setMine(List<String> fingerprints) {
    mine = fingerprints;
  }

  /** Whether the keyspaces that are here now are others than those that this end has named. */
  boolean haveChanged(String dc) {
    List<String> now = peering.fingerprints().apply(dc);
    boolean haveChanged = !now.equals(mine);
    mine = now;
    return haveChanged;
  }

  /** The other end names these. */
  void setTheirs(List<String> fingerprints) {
    theirs = fingerprints;
    names = fingerprints.stream().map(KeyspaceAgreement::name).toList();
  }

  /** Compares what both ends have named. */
  void compare(String dc) {
    List<String> both = peering.compare(dc, mine, theirs).agreed();
    agreed = Collections.unmodifiableSet(new LinkedHashSet<>(both));
  }

  /** What both ends see alike, in the order in which this end has named it. */
  Set<String> agreed() {
    return agreed;
  }

  /**
   * A keyspace's name by the other end's number for it.
   *
   * @throws OsierException MALFORMED if it has named none of that number
   */
  String name(int number) {
    if (number >= names.size()) {
      throw new OsierException(
          ErrorCode.MALFORMED, "keyspace " + number + " is not one of " + names);
    }
    return names.get(number);
  }
}
