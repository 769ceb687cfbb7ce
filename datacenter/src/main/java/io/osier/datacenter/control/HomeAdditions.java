package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.crdt.Operation;
import io.osier.datacenter.control.HomeRecords.Addition;
import io.osier.propagation.net.link.PeerVersions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Adds homes to keyspaces that exist, where no key is that they would take. From the moment at
 * which a datacenter hears of an addition it takes no updates of such keys ({@link Homes#adding});
 * then it searches what it holds once, and notes what it has found. The datacenter that was asked
 * for the addition ends it when one has found a key. When all have found nothing, the homes are
 * opened by their holders, and then they are homes: until each datacenter has noted that it knows
 * that, they take no updates. So a key of theirs is nowhere until all look for it at the right
 * place, and whoever looks in the former place until then rightly finds nothing.
 *
 * <p>What is on its way between holders needs no search: each update was taken by one datacenter,
 * before that one refused them, so its own search finds it, unless it holds nothing any more. So
 * each searches only while the datacenters and holders are those for which the addition was asked.
 * Whoever becomes a member or a holder later has heard of the addition before, from these.
 *
 * <p>A removed key is none: it stays removed at its holders, and nobody can update it there.
 *
 * <p>Used by the control plane's thread.
 */
final class HomeAdditions {
  private final String dc;
  private final LongSupplier millis;
  private final MemberPlane members;
  private final ControlHost host;

  HomeAdditions(String dc, LongSupplier millis, MemberPlane members, ControlHost host) {
    this.dc = dc;
    this.millis = millis;
    this.members = members;
    this.host = host;
  }

  /** Identifies the datacenters and the holders of all homes, as they are known here. */
  private String view(KeyspaceDefinition of, ControlState state) {
    StringBuilder view = new StringBuilder();
    members
        .membership()
        .present()
        .forEach(m -> view.append(m.name()).append(' ').append(m.id()).append('\n'));
    for (KeyspaceDefinition home : all(of, state)) {
      view.append(home.name()).append('\n');
      home.holders()
          .states()
          .forEach(
              (name, holder) -> {
                if (!holder.isGone()) {
                  view.append(name).append(' ').append(holder.term()).append('\n');
                }
              });
    }
    return UUID.nameUUIDFromBytes(view.toString().getBytes(StandardCharsets.UTF_8)).toString();
  }

  private static List<KeyspaceDefinition> all(KeyspaceDefinition of, ControlState state) {
    return names(of).stream().flatMap(name -> state.find(name).stream()).toList();
  }

  private static List<String> names(KeyspaceDefinition of) {
    return of.policy().partitioning().homes().keyspaces(of.name());
  }

  // ---------------------------------------------------------------- commands

  /**
   * Returns the operations that begin to add homes, or end that.
   *
   * @param wanted the names of all homes; without those that are being added, that is taken back
   * @param partitions how many partitions there are of all keyspaces
   * @throws OsierException INVALID_ARGUMENT or UNAVAILABLE, and nothing was done
   */
  List<Operation> altering(
      KeyspaceDefinition of, ControlState state, List<String> wanted, int partitions, String by) {
    HomeRecords now = of.homes();
    Homes homes = now.homes();
    List<String> lost = new ArrayList<>(homes.names());
    lost.removeAll(wanted);
    if (homes.isEmpty() || !lost.isEmpty()) {
      throw refused(
          homes.isEmpty()
              ? "keyspace '%s' was created without homes, and gets none".formatted(of.name())
              : "homes are only added to '%s', and stay: name these, too: %s"
                  .formatted(of.name(), lost));
    }
    List<String> added = new ArrayList<>(wanted);
    added.removeAll(homes.names());
    Optional<Addition> present = now.addition();
    boolean isDecided = present.filter(p -> members.names().contains(p.decider())).isPresent();
    if (added.equals(homes.adding()) && (added.isEmpty() || isDecided)) {
      return List.of();
    }
    if (isDecided) {
      checkTakesBack(of, present.orElseThrow(), added);
      return List.of(end(of, "it was taken back", by));
    }
    if (!added.containsAll(homes.adding())) { // the former decider may have completed it
      throw refused(
          "homes %s were being added to '%s': name these, too"
              .formatted(homes.adding(), of.name()));
    }
    checkRoom(of, added, partitions);
    checkReady(of, state);
    members.begin();
    HolderSet holders = of.holders();
    Addition addition =
        new Addition(
            added,
            holders.first().isEmpty() ? List.of() : holders.those(HolderState::serves),
            millis.getAsLong() + "-" + dc,
            view(of, state),
            false);
    return List.of(of.with(now.adding(addition), "", by, millis.getAsLong()));
  }

  /**
   * Throws unless an addition is taken back where it is decided: anywhere else it might be decided
   * otherwise at the same time.
   */
  private void checkTakesBack(KeyspaceDefinition of, Addition present, List<String> added) {
    boolean isHere = present.decider().equals(dc) && host.isSettled();
    if (!added.isEmpty() || present.opens() || !isHere) {
      throw refused(
          "homes are being added to '%s' already: %s; wait%s"
              .formatted(
                  of.name(),
                  present.homes(),
                  present.opens()
                      ? ""
                      : ", or take that back at '%s', by the homes but these"
                          .formatted(present.decider())));
    }
  }

  private static OsierException refused(String why) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, why);
  }

  private static void checkRoom(KeyspaceDefinition of, List<String> added, int partitions) {
    Partitioning keys = of.policy().partitioning();
    List<String> names = new ArrayList<>(keys.homes().names());
    names.addAll(added);
    try {
      var unused = of.policy().with(keys.with(new Homes(names, 0, List.of())));
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()));
    }
    KeyspaceCreation.checkPartitions(of.name(), keys.count() * added.size(), partitions);
  }

  private void checkReady(KeyspaceDefinition of, ControlState state) {
    List<String> hindering = new ArrayList<>();
    for (String name : members.names()) {
      int spoken = host.protocol(name);
      if (!members.staying().contains(name)) {
        hindering.add(name + " joins or leaves the cluster");
      } else if (spoken < PeerVersions.ADDED_HOMES) {
        hindering.add(name + " speaks version " + spoken + " of the peer protocol, not 20");
      } else if (!name.equals(dc) && !host.isConnected(name)) {
        hindering.add(name + " is out of reach");
      }
    }
    if (!host.isSettled() || !members.isActive()) {
      hindering.add(dc + " has not heard from every other one since it started");
    }
    for (KeyspaceDefinition each : all(of, state)) {
      boolean isStill =
          each.holders().states().values().stream()
              .allMatch(h -> h.isGone() || (h.serves() && h.removal().isEmpty()));
      if (!isStill) {
        hindering.add("the holders of '" + each.name() + "' are changing");
      }
      members
          .awaited(each)
          .forEach(name -> hindering.add(name + " has not opened '" + each.name() + "' yet"));
    }
    if (!hindering.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "homes are added while nothing else changes, and all datacenters can be reached: "
              + String.join("; ", hindering));
    }
  }

  // ---------------------------------------------------------------- steps

  /** Returns what this datacenter must tell of the homes that are being added to a keyspace. */
  List<Operation> step(KeyspaceDefinition of, ControlState state) {
    HomeRecords homes = of.homes();
    if (homes.addition().isEmpty() || !host.isSettled()) {
      return List.of();
    }
    Addition addition = homes.addition().get();
    return addition.opens() ? opening(of, addition) : searching(of, addition, state);
  }

  /** Searches, and decides once all have. */
  private List<Operation> searching(KeyspaceDefinition of, Addition addition, ControlState state) {
    HomeRecords homes = of.homes();
    boolean isAsAsked = addition.view().equals(view(of, state));
    List<Operation> tells = new ArrayList<>();
    if (isAsAsked && homes.foundAt(dc).isEmpty() && members.isActive()) {
      host.searchForKeys(addition.id(), names(of))
          .ifPresent(found -> tells.add(ControlState.assign(of.name(), homes.finding(dc, found))));
    }
    if (addition.decider().equals(dc)) {
      SortedMap<String, String> found = new TreeMap<>();
      members.names().forEach(name -> homes.foundAt(name).ifPresent(f -> found.put(name, f)));
      Optional<String> key =
          found.entrySet().stream()
              .filter(e -> !e.getValue().isEmpty())
              .map(e -> e.getKey() + " has " + e.getValue())
              .findFirst();
      if (key.isPresent() || !isAsAsked) {
        tells.add(
            end(of, key.orElse("the datacenters or holders have changed meanwhile"), of.by()));
      } else if (found.keySet().containsAll(members.names())) {
        tells.addAll(of.opening(members.names(), of.by(), millis.getAsLong()));
      }
    }
    return tells;
  }

  /** Tells that the homes are open here, and completes the addition once they are everywhere. */
  private List<Operation> opening(KeyspaceDefinition of, Addition addition) {
    List<Operation> tells = new ArrayList<>();
    if (!isOpenAt(dc, of)) {
      tells.add(ControlState.assign(of.name(), of.homes().finding(dc, HomeRecords.OPEN)));
    }
    if (addition.decider().equals(dc)
        && members.names().stream().allMatch(name -> isOpenAt(name, of))) {
      tells.add(of.with(of.homes().grown(), "", of.by(), millis.getAsLong()));
    }
    return tells;
  }

  private static boolean isOpenAt(String name, KeyspaceDefinition of) {
    return of.homes().foundAt(name).filter(HomeRecords.OPEN::equals).isPresent();
  }

  private Operation end(KeyspaceDefinition of, String why, String by) {
    String words = String.join(",", of.homes().homes().adding()) + " not added: " + why;
    return of.with(of.homes().withoutAddition(), words, by, millis.getAsLong());
  }

  // ---------------------------------------------------------------- views

  /** Returns how far the addition of homes has come, or why it ended, in words; mostly empty. */
  String words(KeyspaceDefinition of) {
    HomeRecords homes = of.homes();
    if (homes.addition().isEmpty()) {
      return homes.refused();
    }
    boolean opens = homes.addition().get().opens();
    List<String> awaited =
        members.names().stream()
            .filter(name -> opens ? !isOpenAt(name, of) : homes.foundAt(name).isEmpty())
            .toList();
    return "adding %s, waits for %s"
        .formatted(
            String.join(",", homes.homes().adding()),
            String.join(
                ", ", awaited.isEmpty() ? List.of(homes.addition().get().decider()) : awaited));
  }
}
