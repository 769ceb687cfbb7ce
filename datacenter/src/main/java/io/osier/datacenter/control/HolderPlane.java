package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.PlacementRules;
import io.osier.crdt.Operation;
import io.osier.propagation.net.link.PeerVersions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for the holders of keyspaces: tells them to the host, tells the others
 * that this datacenter has become one, and takes changes from operators. Used by the control
 * plane's thread.
 */
final class HolderPlane {
  private static final Logger LOG = LoggerFactory.getLogger(HolderPlane.class);

  private final String dc;
  private final MemberPlane members;
  private final ControlHost host;
  private final HolderRemovals removals;

  /** The holders that the host was told last, by keyspace. */
  private final Map<String, ControlHost.Holding> told = new HashMap<>();

  /**
   * The keyspaces that were complete when this process looked; {@code _osier} may not say so yet.
   */
  private final Set<String> whole = new HashSet<>();

  HolderPlane(String dc, MemberPlane members, LongSupplier millis, ControlHost host) {
    this.dc = dc;
    this.members = members;
    this.host = host;
    this.removals = new HolderRemovals(dc, members, millis, host);
  }

  /** Forgets a keyspace that is no longer open. */
  void forget(String keyspace) {
    told.remove(keyspace);
    whole.remove(keyspace);
    removals.forget(keyspace);
  }

  /**
   * Returns whether this datacenter's data of a keyspace that it no longer holds may be dropped.
   */
  boolean mayDrop(KeyspaceDefinition keyspace) {
    return removals.mayDrop(keyspace);
  }

  /**
   * Returns whether a keyspace keeps this datacenter from leaving the cluster: no other holder that
   * serves stays in the cluster, or a holder that is leaving the keyspace may still give its rights
   * to this one. A holder that was told to leave and must stay gives none; it counts as staying
   * only while this datacenter is not quiet yet, since it waits for this one.
   */
  boolean needs(HolderSet holders) {
    HolderState self = holders.of(dc);
    if (holders.first().isEmpty() || self.isGone() || !self.isWhole()) {
      return false;
    }
    boolean mayHear = !members.isQuiet(dc);
    List<String> staying = members.staying();
    boolean othersHold =
        holders.those(of -> of.serves() && (mayHear || of.removal().isEmpty())).stream()
            .anyMatch(name -> !name.equals(dc) && staying.contains(name));
    return !othersHold
        || holders.those(of -> of.leaves() && of.has(HolderState.Step.AGREED, dc)).stream()
            .anyMatch(members.names()::contains);
  }

  /** Tells the host the holders of a keyspace that is open here. */
  void follow(KeyspaceDefinition keyspace) {
    String name = keyspace.name();
    HolderSet holders = keyspace.holders();
    if (holders.isFirst() && !told.containsKey(name)) {
      return; // the host knows these already
    }
    List<String> first = keyspace.policy().replicas();
    ControlHost.Holding now =
        new ControlHost.Holding(
            holders.all(keyspace.policy()).replicas(),
            holders.first(),
            part(keyspace),
            new TreeSet<>(holders.those(HolderState::leaves)),
            removals.unshared(keyspace),
            terms(holders));
    ControlHost.Holding before = told.get(name);
    if (!now.equals(before)) {
      host.setHolders(name, now);
      told.put(name, now);
      if (before != null) {
        members.holdersChanged();
      }
      boolean isStart = before == null; // later changes are an operator's own, or follow the load
      if (isStart && !first.equals(now.first()) && !first.equals(now.holders())) {
        LOG.warn(
            "keyspace '{}' is held by {}, as was altered while all served, and not by {}, as the"
                + " configuration file says",
            name,
            now.holders(),
            first);
      }
    }
  }

  private ControlHost.Part part(KeyspaceDefinition keyspace) {
    if (removals.isQuiet(keyspace)) {
      return ControlHost.Part.LEAVES;
    }
    return keyspace.holders().of(dc).catchesUp() && !whole.contains(keyspace.name())
        ? ControlHost.Part.JOINS
        : ControlHost.Part.SERVES;
  }

  private static SortedMap<String, Integer> terms(HolderSet holders) {
    SortedMap<String, Integer> terms = new TreeMap<>();
    holders
        .states()
        .forEach(
            (name, of) -> {
              if (of.term() > 0) {
                terms.put(name, of.term());
              }
            });
    return terms;
  }

  /**
   * Returns what this datacenter must tell of a keyspace that is open here: that it has the others'
   * data, or its steps in the removal of holders. It serves before anybody hears of that and asks
   * it.
   */
  List<Operation> tells(KeyspaceDefinition keyspace) {
    String name = keyspace.name();
    HolderState self = keyspace.holders().of(dc);
    List<Operation> tells = new ArrayList<>();
    if (self.catchesUp() && !self.leaves() && told.containsKey(name)) {
      if (!whole.contains(name) && host.isSettled() && host.isWhole(name)) {
        whole.add(name);
        follow(keyspace);
      }
      if (whole.contains(name)) {
        tells.add(keyspace.holders().holds(name, dc, keyspace.created()));
      }
    }
    tells.addAll(removals.step(keyspace, () -> follow(keyspace)));
    return tells;
  }

  // ---------------------------------------------------------------- changes by operators

  /**
   * The changes that an operator's wish for other replicas needs.
   *
   * @param registers fields of the keyspace's map
   * @param flags the flags to set
   */
  record Change(SortedMap<String, String> registers, List<Operation> flags) {}

  /**
   * Returns the changes that an operator's wish for other replicas needs.
   *
   * @param rules that the keyspace has from now on
   * @param wanted the replicas that are asked for; known datacenters
   * @throws OsierException INVALID_ARGUMENT or UNAVAILABLE, and nothing was done
   */
  Change altering(KeyspaceDefinition of, PlacementRules rules, List<String> wanted) {
    String keyspace = of.name();
    HolderSet holders = of.holders();
    String creation = of.created();
    List<String> present =
        holders.first().isEmpty()
            ? List.of()
            : holders.those(h -> !h.isGone() && h.removal().isEmpty());
    if (present.equals(wanted)) {
      return new Change(new TreeMap<>(), List.of());
    }
    List<String> added = new ArrayList<>(wanted);
    added.removeAll(present);
    List<String> removed = new ArrayList<>(present);
    removed.removeAll(wanted);
    checkNames(keyspace, present, wanted, added, removed);
    rules.forbidden(added).ifPresent(why -> refuse(keyspace, why));
    checkNothingElse(keyspace, holders, removed);
    if (!removed.isEmpty()) {
      checkRemoved(keyspace, holders, removed);
      List<String> rest = new ArrayList<>(staying(holders));
      rest.removeAll(removed);
      rules.tooFew(rest).ifPresent(why -> refuse(keyspace, why));
    }
    boolean isFormer = added.stream().anyMatch(holders.states().keySet()::contains);
    int version = removed.isEmpty() && !isFormer ? PeerVersions.HOLDERS : PeerVersions.REMOVALS;
    if (!rules.equals(PlacementRules.NONE)) {
      version = PeerVersions.PLACEMENT;
    }
    checkReady(Math.max(version, oldestKnowing(of.policy().partitioning())), added);
    members.begin();
    return removed.isEmpty()
        ? new Change(holders.adding(added, creation), holders.again(keyspace, added, creation))
        : new Change(
            holders.adding(List.of(), creation),
            List.of(holders.removing(keyspace, removed, creation)));
  }

  /** Returns the oldest version of the peer protocol that understands this partitioning. */
  static int oldestKnowing(Partitioning keys) {
    return !keys.homes().isEmpty()
        ? PeerVersions.HOMES
        : keys.isByTag() ? PeerVersions.BY_TAG : PeerVersions.OLDEST;
  }

  private static void checkNames(
      String keyspace,
      List<String> present,
      List<String> wanted,
      List<String> added,
      List<String> removed) {
    if (present.isEmpty() || wanted.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          present.isEmpty()
              ? "keyspace '" + keyspace + "' is held by all datacenters, and stays so"
              : "replicas of a keyspace that exists are altered by names: it is held by "
                  + present);
    }
    if (!added.isEmpty() && !removed.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("one change of holders either adds or removes: '%s' is held by %s; add %s"
                  + " first, and remove %s once those hold it ('keyspace list')")
              .formatted(keyspace, present, added, removed));
    }
  }

  private static void refuse(String keyspace, String why) {
    throw new OsierException(ErrorCode.INVALID_ARGUMENT, "keyspace '" + keyspace + "': " + why);
  }

  /** Returns the complete holders that were told to leave neither the keyspace nor the cluster. */
  List<String> staying(HolderSet holders) {
    return holders.those(of -> of.serves() && of.removal().isEmpty()).stream()
        .filter(members.staying()::contains)
        .toList();
  }

  /** Throws if other changes of the holders are in progress. */
  private void checkNothingElse(String keyspace, HolderSet holders, List<String> removed) {
    for (String name : holders.those(of -> !of.isGone())) {
      HolderState of = holders.of(name);
      if (!members.names().contains(name)) {
        continue;
      }
      if (of.removal().isPresent()) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            ("'%s' is being removed from the holders of '%s': wait until it is none any"
                    + " more ('keyspace list')")
                .formatted(name, keyspace));
      }
      if (!removed.isEmpty() && members.membership().leaves(name)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            ("'%s' holds '%s' and is leaving the cluster: remove holders when it has left"
                    + " ('dc list')")
                .formatted(name, keyspace));
      }
      if (of.catchesUp() && !removed.contains(name)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            ("'%s' is being added to the holders of '%s': wait until it holds the"
                    + " keyspace ('keyspace list')")
                .formatted(name, keyspace));
      }
    }
  }

  private void checkRemoved(String keyspace, HolderSet holders, List<String> removed) {
    List<String> strangers = new ArrayList<>(removed);
    strangers.removeAll(members.names());
    if (!strangers.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("the list must also name these datacenters, which were removed from the"
                  + " cluster and hold nothing any more: %s")
              .formatted(strangers));
    }
    boolean somebodyStays =
        holders.those(HolderState::serves).stream()
            .anyMatch(name -> !removed.contains(name) && members.staying().contains(name));
    if (!somebodyStays) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace '%s' would be lost: of those that hold it, and are there, one must stay: %s"
              .formatted(keyspace, holders.those(HolderState::serves)));
    }
  }

  private void checkReady(int version, List<String> added) {
    Optional<String> old = host.tooOld(version, members.names());
    if (old.isPresent()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          ("holders are altered so once all datacenters are known at %s to speak version %d of the"
                  + " peer protocol; %s")
              .formatted(dc, version, old.get()));
    }
    if (!host.isSettled() || !members.isActive()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter %s may not know who holds what: %s; or alter it at another datacenter"
              .formatted(dc, host.unheard(dc, members.names())));
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
