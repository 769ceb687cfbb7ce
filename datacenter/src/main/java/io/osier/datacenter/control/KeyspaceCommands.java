package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.protocol.AdminRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Executes an operator's commands for keyspaces, except {@code _osier} itself: list them, create,
 * alter or drop one. Refuses commands that make no sense, and says why. Used by the control plane's
 * thread.
 */
final class KeyspaceCommands {
  private final String dc;
  private final LongSupplier millis;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final HolderPlane holders;
  private final KeyspacePlane keyspaces;
  private final KeyspaceCreation creation;
  private final ControlHost host;

  KeyspaceCommands(
      String dc,
      LongSupplier millis,
      ControlObjects objects,
      MemberPlane members,
      HolderPlane holders,
      KeyspacePlane keyspaces,
      KeyspaceCreation creation,
      ControlHost host) {
    this.dc = dc;
    this.millis = millis;
    this.objects = objects;
    this.members = members;
    this.holders = holders;
    this.keyspaces = keyspaces;
    this.creation = creation;
    this.host = host;
  }

  /**
   * Executes an operator's command; see {@link ControlPlane#administer}. If a creation fails in
   * {@code _osier}'s partition, the keyspace is open here already: {@link KeyspacePlane#follow}
   * drops it again, unless the creation was committed all the same.
   *
   * @return the keyspaces that were asked for; empty after a change
   */
  List<KeyspaceView> administer(AdminRequest.Administer request, String by) {
    String name = request.name();
    switch (request.subject() + " " + request.action()) {
      case "keyspace list" -> {
        checkNone(request);
        return views();
      }
      case "keyspace create" -> creation.create(name, request.settings(), by);
      case "keyspace alter" -> alter(name, request.settings(), by);
      case "keyspace drop" -> {
        checkNone(request);
        drop(name);
      }
      default ->
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "there is no command '%s %s'; there are keyspace list, create, alter, drop"
                  .formatted(request.subject(), request.action()));
    }
    return List.of();
  }

  private static void checkNone(AdminRequest.Administer request) {
    if (!request.settings().isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace %s takes no settings, but %s were given"
              .formatted(request.action(), request.settings().keySet()));
    }
  }

  /**
   * Alters settings of a keyspace or home.
   *
   * @throws OsierException as {@link ControlPlane#administer}
   */
  void alter(String name, SortedMap<String, String> settings, String by) {
    if (settings.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "nothing is to be altered; what can be is "
              + KeyspaceSettings.ALTERABLE
              + ", replicas, homes");
    }
    if (keyspaces.state().find(name).isEmpty()) {
      throw unknown(name);
    }
    for (String setting : settings.keySet()) {
      if (Homes.isHome(name)
          && !setting.equals(KeyspaceSettings.REPLICAS)
          && !KeyspaceSettings.RULES.contains(setting)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            ("%s is altered for all homes at once, with keyspace '%s'; of a home only"
                    + " replicas and %s can be")
                .formatted(setting, Homes.base(name), KeyspaceSettings.RULES));
      }
      if (KeyspaceSettings.FIXED.contains(setting)
          && !setting.equals(KeyspaceSettings.REPLICAS)
          && !setting.equals(KeyspaceSettings.HOMES)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            setting
                + " of a keyspace that exists cannot be altered; what can be is "
                + KeyspaceSettings.ALTERABLE
                + ", replicas, homes");
      }
    }
    List<Operation> operations = new ArrayList<>(altering(name, settings, by));
    SortedMap<String, String> rules = new TreeMap<>(settings);
    rules.keySet().retainAll(KeyspaceSettings.RULES);
    if (!Homes.isHome(name) && !rules.isEmpty()) {
      for (String home : homes(name)) {
        operations.addAll(altering(home, rules, by));
      }
    }
    change(operations);
  }

  /** Returns the keyspaces of a keyspace's homes besides the default one. */
  private List<String> homes(String name) {
    KeyspaceDefinition definition = keyspaces.state().created().get(name);
    return definition == null
        ? List.of()
        : definition.policy().partitioning().homes().keyspaces(name).stream().skip(1).toList();
  }

  /** Returns the operations that alter one keyspace, or one home of a keyspace. */
  private List<Operation> altering(String name, SortedMap<String, String> settings, String by) {
    KeyspaceDefinition definition = keyspaces.state().find(name).orElseThrow(() -> unknown(name));
    KeyspacePolicy now = definition.policy();
    SortedMap<String, String> all = KeyspaceSettings.all(now);
    all.putAll(settings);
    HolderSet of = definition.holders();
    Set<String> known = new TreeSet<>(members.names());
    known.addAll(of.states().keySet()); // datacenters may have left
    KeyspacePolicy asked = KeyspaceSettings.read(Homes.base(name), all, known);
    if (!asked.rules().equals(now.rules())) {
      List<String> present =
          of.first().isEmpty() ? List.of() : of.those(h -> !h.isGone() && !h.leaves());
      creation.checkRules(name, now.rules(), asked.rules(), present, holders.staying(of), known);
    }
    SortedMap<String, String> wanted = KeyspaceSettings.all(asked);
    wanted.keySet().retainAll(settings.keySet());
    List<Operation> operations = new ArrayList<>();
    if (wanted.remove(KeyspaceSettings.HOMES) != null) {
      operations.addAll(keyspaces.altering(definition, asked.partitioning().homes().names(), by));
    }
    if (wanted.remove(KeyspaceSettings.REPLICAS) != null) {
      HolderPlane.Change change = holders.altering(definition, asked.rules(), asked.replicas());
      wanted.putAll(change.registers());
      operations.addAll(change.flags());
    }
    operations.add(ControlState.alter(name, definition.created(), wanted, by, millis.getAsLong()));
    return operations;
  }

  private void drop(String name) {
    if (Homes.isHome(name) && keyspaces.state().find(name).isEmpty()) {
      throw unknown(name);
    }
    if (keyspaces.state().configured().containsKey(name) || creation.isOfFile(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("keyspace '%s' is named by the configuration files: it %s when it is taken out"
                  + " of all of them, and each datacenter is restarted")
              .formatted(name, creation.isOfFile(name) ? "can be dropped" : "goes"));
    }
    KeyspaceDefinition there = keyspaces.state().created().get(name);
    if (there == null) {
      throw unknown(name);
    }
    if (Homes.isHome(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("'%1$s' is a home of keyspace '%2$s', and goes with it (keyspace drop %2$s);"
                  + " who holds it is altered by keyspace alter %1$s replicas=...")
              .formatted(name, Homes.base(name)));
    }
    List<String> all = there.policy().partitioning().homes().keyspaces(name);
    change(all.stream().map(ControlState::drop).toList());
  }

  private OsierException unknown(String name) {
    Set<String> names = new TreeSet<>(keyspaces.policies().keySet());
    Optional<KeyspaceDefinition> base = keyspaces.state().find(Homes.base(name));
    if (Homes.isHome(name) && base.isPresent()) {
      List<String> homes = base.get().policy().partitioning().homes().names();
      return new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE,
          "keyspace '%s' has no home '%s'; %s"
              .formatted(
                  base.get().name(),
                  Homes.home(name),
                  homes.isEmpty()
                      ? "it was created without homes"
                      : "its homes are " + String.join(", ", homes)));
    }
    return new OsierException(
        ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + name + "'; there are " + names);
  }

  private void change(List<Operation> operations) {
    objects.change(ControlState.KEYSPACES, operations);
  }

  // ---------------------------------------------------------------- views for operators

  /** Returns a keyspace as it is known now; empty if it is not known. */
  List<KeyspaceView> views(String name) {
    return views().stream().filter(v -> v.name().equals(name)).toList();
  }

  /** Returns the state of each holder of a keyspace, in words, by datacenter. */
  SortedMap<String, String> states(String name) {
    SortedMap<String, String> states = new TreeMap<>();
    views(name).forEach(v -> v.holders().forEach(h -> states.put(h.dc(), h.state())));
    return states;
  }

  /** Returns all keyspaces, in the order of their names. */
  private List<KeyspaceView> views() {
    SortedMap<String, KeyspaceView> views =
        new TreeMap<>(Comparator.comparing(Homes::base).thenComparing(Comparator.naturalOrder()));
    for (KeyspaceDefinition d : keyspaces.state().all()) {
      List<String> awaited = members.awaited(d);
      SortedMap<String, String> settings = KeyspaceSettings.of(d.holders().all(d.policy()));
      String adding = keyspaces.addition(d);
      if (!adding.isEmpty()) {
        settings.put(KeyspaceView.ADDING, adding);
      }
      views.put(
          d.name(),
          new KeyspaceView(
              d.name(),
              settings,
              holders(d.policy(), d.holders(), Set.copyOf(awaited)),
              awaited,
              d.isOfFile(),
              d.by(),
              d.atMillis()));
    }
    return List.copyOf(views.values());
  }

  private List<KeyspaceView.Holder> holders(
      KeyspacePolicy policy, HolderSet of, Set<String> opening) {
    KeyspacePolicy all = of.all(policy);
    List<String> whole = members.awaited();
    List<KeyspaceView.Holder> holders = new ArrayList<>();
    for (String name : members.names()) {
      if (all.heldBy(name)) {
        boolean isHeard = name.equals(dc) || host.isConnected(name);
        holders.add(
            new KeyspaceView.Holder(
                name,
                !isHeard
                    ? "out of reach"
                    : !whole.contains(name)
                        ? "joining"
                        : state(of.of(name), opening.contains(name))));
      }
    }
    return holders;
  }

  private static String state(HolderState of, boolean opens) {
    boolean isQuiet = of.removal().filter(r -> !r.notes().isEmpty()).isPresent();
    if (of.leaves() || isQuiet) { // one that must stay after all may wait for others first
      return isQuiet ? "leaving, takes no updates" : "leaving";
    }
    if (of.catchesUp()) {
      return "catching up";
    }
    return opens ? "opening" : KeyspaceView.Holder.HOLDS;
  }
}
