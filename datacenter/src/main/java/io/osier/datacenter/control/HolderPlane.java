package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.propagation.net.PeerTransport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for the holders of keyspaces: tells the host who they are, and the
 * others that this datacenter has become one; and takes new ones from operators. Used by the
 * control plane's thread.
 */
final class HolderPlane {
  private static final Logger LOG = LoggerFactory.getLogger(HolderPlane.class);

  private final String dc;
  private final MemberPlane members;
  private final ControlPlane.Host host;

  /** By keyspace, what the host was told last. */
  private final Map<String, ControlPlane.Holding> told = new HashMap<>();

  /** Keyspaces that had all when this process looked; {@code _osier} may not say so yet. */
  private final Set<String> whole = new HashSet<>();

  HolderPlane(String dc, MemberPlane members, ControlPlane.Host host) {
    this.dc = dc;
    this.members = members;
    this.host = host;
  }

  /** A keyspace is not open any more. */
  void forget(String keyspace) {
    told.remove(keyspace);
    whole.remove(keyspace);
  }

  /**
   * Tells the host who holds a keyspace that is open here.
   *
   * @param policy as the keyspace was created, or as the file has it
   */
  void follow(KeyspacePolicy policy, HolderSet holders) {
    String name = policy.name();
    if (holders.isFirst()) {
      return; // that is what the host goes by
    }
    ControlPlane.Holding now =
        new ControlPlane.Holding(
            holders.all(policy).replicas(),
            holders.first(),
            holders.catchesUp(dc) && !whole.contains(name));
    if (!now.equals(told.get(name))) {
      host.setHolders(name, now);
      told.put(name, now);
      if (!policy.replicas().equals(now.first()) && !policy.replicas().equals(now.holders())) {
        LOG.warn(
            "keyspace '{}' is held by {}, as was altered while all served, and not by {}, as the"
                + " configuration file says",
            name,
            now.holders(),
            policy.replicas());
      }
    }
  }

  /**
   * What is to be told of a keyspace that is open here: that this datacenter has what the others
   * hold. It serves before anybody hears of that, and asks it.
   *
   * @param policy as {@link #follow} takes it
   */
  Optional<Operation> tells(KeyspacePolicy policy, HolderSet holders, String creation) {
    String name = policy.name();
    if (!holders.catchesUp(dc) || !told.containsKey(name)) {
      return Optional.empty();
    }
    if (!whole.contains(name) && host.isSettled() && host.isWhole(name)) {
      whole.add(name);
      follow(policy, holders);
    }
    return whole.contains(name)
        ? Optional.of(HolderSet.holds(name, dc, creation))
        : Optional.empty();
  }

  /**
   * What an operator's wish for other replicas changes.
   *
   * @param policy as the keyspace was created, or as the file has it
   * @param wanted the replicas that are asked for; known datacenters
   * @return fields of the keyspace's map
   * @throws OsierException INVALID_ARGUMENT or UNAVAILABLE, and nothing was done
   */
  SortedMap<String, String> adding(
      KeyspacePolicy policy, HolderSet holders, String creation, List<String> wanted) {
    List<String> present = holders.all(policy).replicas();
    if (present.equals(wanted)) {
      return new TreeMap<>();
    }
    checkOnlyAdds(policy.name(), present, wanted);
    List<String> added = new ArrayList<>(wanted);
    added.removeAll(present);
    for (String name : present) {
      if (holders.catchesUp(name) && members.names().contains(name)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "'%s' is being added to the holders of '%s': wait until it holds the keyspace ('keyspace list')"
                .formatted(name, policy.name()));
      }
    }
    checkReady(added);
    members.begin();
    return holders.adding(added, creation);
  }

  private static void checkOnlyAdds(String keyspace, List<String> present, List<String> wanted) {
    if (present.isEmpty() || wanted.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          present.isEmpty()
              ? "keyspace '" + keyspace + "' is held by all datacenters, and stays so"
              : "replicas of a keyspace that exists are altered by names: it is held by "
                  + present);
    }
    List<String> removed = new ArrayList<>(present);
    removed.removeAll(wanted);
    if (!removed.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a keyspace can be given more holders, not fewer: '%s' is held by %s, and %s would be left out"
              .formatted(keyspace, present, removed));
    }
  }

  private void checkReady(List<String> added) {
    List<String> old =
        members.names().stream()
            .filter(name -> host.protocol(name) < PeerTransport.HOLDERS_VERSION)
            .toList();
    if (!old.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "holders are added once all datacenters speak version %d of the peer protocol, and as far as %s knows these do not: %s; upgrade them first"
              .formatted(PeerTransport.HOLDERS_VERSION, dc, old));
    }
    if (!host.isSettled() || !members.isActive()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter %s may not know who holds what: it has not heard from every other one since it started; alter it when it has, or at another datacenter"
              .formatted(dc));
    }
    List<String> joining = new ArrayList<>(added);
    joining.removeAll(members.awaited());
    if (!joining.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "not active: %s ('dc list'); it can be given keyspaces once it has joined"
              .formatted(joining));
    }
  }
}
