package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.datacenter.control.view.DatacenterView;
import io.osier.protocol.AdminRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Executes an operator's commands for datacenters: list them, add one, remove one. Refuses a
 * command that would lose data, and says why. Used by the control plane's thread.
 */
final class MemberCommands {
  /** The most datacenters at once: each keeps clocks and history of all. */
  static final int MEMBERS_MAX = 64;

  private final String dc;
  private final SortedMap<String, Optional<String>> configured;
  private final ControlObjects objects;
  private final LongSupplier millis;
  private final ControlHost host;
  private final MemberPlane members;

  /**
   * @param configured the addresses of all datacenters that the configuration file names, by name
   */
  MemberCommands(
      String dc,
      SortedMap<String, Optional<String>> configured,
      ControlObjects objects,
      LongSupplier millis,
      ControlHost host,
      MemberPlane members) {
    this.dc = dc;
    this.configured = new TreeMap<>(configured);
    this.objects = objects;
    this.millis = millis;
    this.host = host;
    this.members = members;
  }

  /**
   * Executes an operator's command.
   *
   * @param keyspaces the holders of the keyspaces, by name
   */
  List<DatacenterView> administer(
      AdminRequest.Administer request, SortedMap<String, HolderSet> keyspaces, String by) {
    String name = request.name();
    switch (request.action()) {
      case "list" -> {
        checkSettings(request, Set.of());
        return views();
      }
      case "add" -> {
        checkSettings(request, Set.of("address"));
        add(name, request.settings().getOrDefault("address", ""), by);
      }
      case "remove" -> {
        checkSettings(request, Set.of("dead"));
        boolean dead = request.settings().getOrDefault("dead", "false").equals("true");
        remove(name, dead, keyspaces, by);
      }
      default ->
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "there is no command 'dc " + request.action() + "'; there are dc list, add, remove");
    }
    return List.of();
  }

  private static void checkSettings(AdminRequest.Administer request, Set<String> allowed) {
    for (String setting : request.settings().keySet()) {
      if (!allowed.contains(setting)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "dc " + request.action() + " takes no '" + setting + "'; it takes " + allowed);
      }
    }
  }

  private void add(String name, String address, String by) {
    try {
      ReplicaId.checkDcName(name);
    } catch (IllegalArgumentException e) {
      throw new OsierException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
    }
    if (HostPort.parse(address).isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "'" + address + "' is no address; it is " + HostPort.ALLOWED);
    }
    if (members.names().contains(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is a datacenter '%s' already%s; there are %s"
              .formatted(name, changed(name), members.names()));
    }
    for (DatacenterView other : views()) {
      if (other.address().equals(address) && members.names().contains(other.name())) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, address + " is the address of '" + other.name() + "'");
      }
    }
    if (members.names().size() >= MEMBERS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "there may be " + MEMBERS_MAX + " datacenters at most");
    }
    checkLegible(name);
    checkSettled();
    members.begin();
    String id = "%013d-%s".formatted(millis.getAsLong(), UUID.randomUUID());
    objects.change(
        Membership.OBJECT,
        List.of(members.membership().add(name, address, id, by, millis.getAsLong())));
  }

  /**
   * Throws if a datacenter's version cannot read the new name: it would fail on the new one's
   * frames.
   */
  private void checkLegible(String name) {
    int needed = host.protocolMin(name);
    for (String other : members.names()) {
      int version = host.protocol(other);
      if (version < needed) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE,
            ("the name '%s' needs version %d of the peer protocol everywhere, and '%s'"
                        + " speaks version")
                    .formatted(name, needed, other)
                + (" %d as far as %s knows: upgrade it first, or take a name of at most 16"
                        + " characters")
                    .formatted(version, dc));
      }
    }
  }

  private String changed(String name) {
    return members
        .membership()
        .find(name)
        .map(m -> ControlState.changed(m.by(), m.atMillis()))
        .orElse("");
  }

  private void checkSettled() {
    if (!host.isSettled()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter %s may not know all datacenters: %s; or try it at another one"
              .formatted(dc, host.unheard(dc, members.names())));
    }
  }

  private void remove(
      String name, boolean dead, SortedMap<String, HolderSet> keyspaces, String by) {
    if (!members.names().contains(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is no datacenter '%s'%s%s; there are %s"
              .formatted(
                  name,
                  members
                      .membership()
                      .find(name)
                      .map(m -> " any more: it is " + m.state().label())
                      .orElse(""),
                  changed(name),
                  members.names()));
    }
    if (members.awaited().stream().allMatch(name::equals)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "'" + name + "' is the last datacenter that is active");
    }
    keyspaces.forEach((keyspace, holders) -> checkHolder(name, dead, keyspace, holders));
    if (dead && name.equals(dc)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'" + name + "' answers, so it is not dead; without --dead it leaves by itself");
    }
    if (dead && host.isConnected(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'" + name + "' is connected, so it is not dead; without --dead it leaves by itself");
    }
    // A dead datacenter may be removed even if not everything is known; other changes, and the
    // first one, may not be made then.
    if (!dead || (!members.membership().isInForce() && members.names().size() > 2)) {
      checkSettled();
    }
    members.begin();
    Member member =
        members
            .membership()
            .find(name)
            .orElseThrow(() -> new OsierException(ErrorCode.INTERNAL, "it was removed meanwhile"));
    if (member.state() == Member.State.LEAVING && !dead) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'" + name + "' was told to leave already" + changed(name) + ", and does so");
    }
    Member.State state = dead ? Member.State.REMOVED : Member.State.LEAVING;
    objects.change(
        Membership.OBJECT,
        List.of(Membership.mark(member, state, by, millis.getAsLong(), host.incarnation(name))));
  }

  /**
   * Throws if a keyspace needs this datacenter: one that is alive waits until others hold the
   * keyspace.
   */
  private void checkHolder(String name, boolean dead, String keyspace, HolderSet holders) {
    HolderState of = holders.of(name);
    if (holders.first().isEmpty() || of.isGone() || !of.isWhole()) {
      return;
    }
    List<String> there = dead ? members.awaited() : members.staying();
    boolean othersHold =
        holders.those(o -> dead ? o.isWhole() && !o.isGone() : o.serves()).stream()
            .anyMatch(other -> !other.equals(name) && there.contains(other));
    if (!othersHold) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace '%s' is held by '%s' alone, of those that stay: it would be lost"
              .formatted(keyspace, name));
    }
    List<String> removed =
        holders.those(o -> o.removal().isPresent()).stream()
            .filter(members.names()::contains)
            .toList();
    if (!dead && !removed.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("'%s' holds '%s', of whose holders these are being removed: %s; wait until"
                  + " they are none any more ('keyspace list')")
              .formatted(name, keyspace, removed));
    }
  }

  private List<String> awaited(Member m) {
    if (m.name().equals(dc)) {
      return m.state() == Member.State.ACTIVE ? List.of() : host.progress();
    }
    if (m.isPresent() && !host.isConnected(m.name())) {
      return List.of("it cannot be reached from " + dc);
    }
    if (m.state() == Member.State.REMOVED) {
      List<String> late = members.awaitedFor(m);
      return late.isEmpty()
          ? List.of()
          : List.of("its rights of bounded counters wait for " + String.join(", ", late));
    }
    return List.of();
  }

  List<DatacenterView> views() {
    List<DatacenterView> views = new ArrayList<>();
    if (!members.membership().isInForce()) {
      for (Map.Entry<String, Optional<String>> e : configured.entrySet()) {
        views.add(
            new DatacenterView(
                e.getKey(),
                e.getValue().orElse(""),
                Member.State.ACTIVE.label(),
                true,
                List.of(),
                Optional.empty(),
                "",
                0));
      }
      return views;
    }
    for (Member m : members.membership().all().values()) {
      views.add(
          new DatacenterView(
              m.name(),
              m.address().orElse(""),
              m.state().label(),
              m.id().equals(Membership.FROM_FILE),
              awaited(m),
              m.name().equals(dc) ? host.catchUp() : Optional.empty(),
              m.by(),
              m.atMillis()));
    }
    return views;
  }
}
