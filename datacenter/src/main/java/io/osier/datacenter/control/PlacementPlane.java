package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;

import io.osier.adaptation.PlacementAdvice;
import io.osier.adaptation.PlacementPolicy;
import io.osier.adaptation.PlacementPolicy.Demand;
import io.osier.adaptation.PlacementPolicy.Kind;
import io.osier.adaptation.PlacementPolicy.Move;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules.Placement;
import io.osier.crdt.Operation;
import io.osier.datacenter.placement.Counted;
import io.osier.datacenter.placement.Load;
import io.osier.datacenter.placement.Measured;
import io.osier.datacenter.placement.PlacementHost;
import io.osier.datacenter.placement.PlacementSettings;
import io.osier.datacenter.placement.PlacementView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for keyspaces whose holders follow their load: records this datacenter's
 * load in {@code _osier}; and if this datacenter is the first by name of the holders that are up,
 * alters the holders once in a period, by the same command as operators. Used by the control
 * plane's thread.
 */
final class PlacementPlane {
  private static final Logger LOG = LoggerFactory.getLogger(PlacementPlane.class);

  /** The assumed size of an update before any was shipped, in bytes. */
  private static final double UPDATE_BYTES = 100;

  private final MemberPlane members;
  private final KeyspacePlane keyspaces;
  private final KeyspaceCommands commands;
  private final ControlObjects objects;
  private final LongSupplier millis;
  private final ControlHost host;
  private final PlacementSettings settings;
  private final PlacementHost loads;
  private final Map<String, Counted> counted = new HashMap<>();

  /** The value of {@link PlacementHost#lagging} in the last period. */
  private Set<String> lagging = Set.of();

  /** The keyspace to which each datacenter was added in this step, after the state was read. */
  private final Map<String, String> added = new HashMap<>();

  PlacementPlane(
      MemberPlane members,
      KeyspacePlane keyspaces,
      KeyspaceCommands commands,
      ControlObjects objects,
      LongSupplier millis,
      ControlHost host,
      PlacementSettings settings,
      PlacementHost loads) {
    this.members = members;
    this.keyspaces = keyspaces;
    this.commands = commands;
    this.objects = objects;
    this.millis = millis;
    this.host = host;
    this.settings = settings;
    this.loads = loads;
  }

  /** Measures, records and decides, for the keyspaces whose period is over. */
  void step() {
    added.clear();
    SortedMap<String, KeyspacePolicy> all = followed();
    counted
        .entrySet()
        .removeIf(
            e -> !all.containsKey(e.getKey()) || !e.getValue().creation.equals(of(e.getKey())));
    loads.count(all.keySet());
    long now = millis.getAsLong();
    List<Operation> tells = new ArrayList<>();
    keyspaces.state().loads().entrySet().stream()
        .filter(e -> !all.containsKey(e.getKey()) && e.getValue().containsKey(members.self()))
        .forEach(e -> tells.add(ControlState.noLoad(e.getKey(), members.self())));
    SortedMap<String, KeyspacePolicy> due = new TreeMap<>();
    for (Map.Entry<String, KeyspacePolicy> e : all.entrySet()) {
      String name = e.getKey();
      Counted it =
          counted.computeIfAbsent(
              name, k -> new Counted(of(k), settings, loads.measured(k), whole(k), now));
      if (now - it.sinceMillis < settings.periodMillis()) {
        continue;
      }
      due.put(name, e.getValue());
      it.see(whole(name), underWay(name).isPresent(), now);
      it.measure(loads.measured(name), now);
      Load told = told(name).get(members.self());
      double bytes = bytes(name);
      if (told == null || it.load.differs(told) || it.load.hasRoom(bytes) != told.hasRoom(bytes)) {
        tells.add(ControlState.load(name, members.self(), it.creation, it.load));
      }
    }
    objects.tell(ControlState.KEYSPACES, tells, "the load of keyspaces here");
    if (!due.isEmpty()) {
      lagging = loads.lagging();
    }
    due.forEach(this::decide);
  }

  /** Returns the keyspaces whose load is counted, with their present rules. */
  private SortedMap<String, KeyspacePolicy> followed() {
    SortedMap<String, KeyspacePolicy> all = new TreeMap<>(keyspaces.policies());
    all.values().removeIf(policy -> !policy.rules().counts());
    return all;
  }

  private String of(String name) {
    return keyspaces.state().creations().getOrDefault(name, ControlHost.FROM_FILE);
  }

  private SortedMap<String, Load> told(String name) {
    SortedMap<String, Load> all =
        new TreeMap<>(keyspaces.state().loads().getOrDefault(name, new TreeMap<>()));
    all.keySet().retainAll(members.names());
    return all;
  }

  // ---------------------------------------------------------------- deciding

  private void decide(String name, KeyspacePolicy policy) {
    Counted it = requireNonNull(counted.get(name));
    long now = millis.getAsLong();
    if (lacksRoom(name) && absent(name).isEmpty()) {
      Move back = new Move(Kind.REMOVE, members.self(), 0, "it has no room for it");
      it.said = words(back) + ": " + back.why();
      alter(name, it, back);
      return;
    }
    if (!decider(name).equals(members.self())) {
      it.pauses.found(Kind.STAY, "", now); // a pause in the counting starts a new series
      return;
    }
    Optional<String> awaited = awaited(name, policy);
    Move move = settings.policy().decide(figures(name, policy));
    long left =
        awaited.isPresent()
            ? it.pauses.found(Kind.STAY, "", now)
            : it.pauses.found(move.kind(), move.dc(), now);
    if (awaited.isPresent()) {
      it.said = "nothing moves: " + awaited.get();
    } else if (move.kind() == Kind.STAY) {
      it.said = stays(name, policy, move);
    } else if (left > 0) {
      it.said = words(move) + " in " + (left + 999) / 1000 + " s, if that stays so: " + move.why();
    } else {
      it.said = words(move) + ": " + move.why();
      alter(name, it, move);
    }
  }

  private String stays(String name, KeyspacePolicy policy, Move move) {
    List<String> whole = whole(name);
    String hindered =
        mayHold(policy).stream()
            .filter(dc -> !whole.contains(dc))
            .flatMap(dc -> hindered(name, dc).stream())
            .map(why -> "; " + why)
            .collect(Collectors.joining());
    return "nothing moves, as the gain would be too small: "
        + move.why()
        + hindered
        + away(name)
            .map(dc -> "; none is removed while " + dc + ", which uses it, is out of reach")
            .orElse("");
  }

  private static String words(Move move) {
    return move.dc() + (move.kind() == Kind.ADD ? " is added" : " is removed");
  }

  private void alter(String name, Counted it, Move move) {
    String replicas = String.join(",", move.holders(whole(name)));
    String command = "keyspace alter " + name + " replicas=" + replicas;
    try {
      commands.alter(name, new TreeMap<>(Map.of("replicas", replicas)), "placement");
      if (move.kind() == Kind.ADD) {
        added.put(move.dc(), name);
      }
      it.refused = "";
      LOG.info("keyspace '{}' follows its load: {}", name, it.said);
      loads.moved(name, command, move.why());
    } catch (OsierException e) {
      it.said = "refused: " + e.reason();
      if (!it.refused.equals(it.said)) {
        LOG.warn("keyspace '{}' does not follow its load: {}: {}", name, command, e.reason());
        loads.refused(command, e.code() + ": " + e.reason());
        it.refused = it.said;
      }
    }
  }

  /** Returns the complete holders of a keyspace that were not told to leave. */
  private List<String> whole(String name) {
    return all(name).those(h -> h.serves() && h.removal().isEmpty());
  }

  private boolean isUp(String dc) {
    return dc.equals(members.self()) || host.isConnected(dc);
  }

  /**
   * Returns the first by name of the holders that are up and not lagging; empty if there is none.
   */
  private String decider(String name) {
    List<String> whole = whole(name);
    return whole.stream().filter(dc -> isUp(dc) && !lagging.contains(dc)).findFirst().orElse("");
  }

  /** Returns why no holder may be moved now. */
  private Optional<String> awaited(String name, KeyspacePolicy policy) {
    if (policy.rules().placement() != Placement.ADAPTIVE) {
      return Optional.of("it is pinned");
    }
    if (!host.isSettled() || !members.isActive()) {
      return Optional.of(members.self() + " may not know all holders yet");
    }
    Optional<String> busy = underWay(name).or(() -> absent(name));
    if (busy.isPresent()) {
      return busy;
    }
    SortedMap<String, Load> told = told(name);
    return mayHold(policy).stream()
        .filter(dc -> !told.containsKey(dc) && !lagging.contains(dc))
        .findFirst()
        .map(dc -> dc + " has not reported its load yet");
  }

  /** A holder that could not take its part in a move now, in words. */
  private Optional<String> absent(String name) {
    for (String dc : all(name).those(h -> !h.isGone())) {
      if (members.names().contains(dc) && (!members.staying().contains(dc) || !isUp(dc))) {
        return Optional.of(dc + " holds it, and " + (isUp(dc) ? "leaves" : "is out of reach"));
      }
      if (lagging.contains(dc)) { // it would neither hear of a move nor take its steps
        return Optional.of(dc + " holds it, and takes no updates of _osier (is its disk full?)");
      }
    }
    return Optional.empty();
  }

  /**
   * Returns, in words, a datacenter that uses the keyspace by its last record and is out of reach.
   * Its load counts on, but no holder is removed: that may be the only one it can reach.
   */
  private Optional<String> away(String name) {
    return told(name).entrySet().stream()
        .filter(e -> e.getValue().demand().asks() > 0 && !isUp(e.getKey()))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  private HolderSet all(String name) {
    return keyspaces.holders().getOrDefault(name, HolderSet.of(List.of()));
  }

  /** Returns, in words, the datacenter whose move is in progress. */
  private Optional<String> underWay(String name) {
    HolderSet all = all(name);
    return all.those(h -> !h.isGone() && (h.catchesUp() || h.removal().isPresent())).stream()
        .filter(members.names()::contains)
        .findFirst()
        .map(dc -> dc + (all.of(dc).catchesUp() ? " is being added" : " is being removed"));
  }

  /** Returns the datacenters that are up and may hold the keyspace. */
  private Set<String> mayHold(KeyspacePolicy policy) {
    Set<String> all = new TreeSet<>(members.staying());
    all.removeIf(dc -> !isUp(dc) || members.isQuiet(dc) || !policy.rules().mayHold(dc));
    return all;
  }

  /** Returns the bytes of a keyspace, as recorded by its holders. */
  private double bytes(String name) {
    return told(name).values().stream().mapToDouble(Load::bytes).max().orElse(0);
  }

  /** Returns, in words, why a datacenter that is up and may hold a keyspace cannot be added now. */
  private Optional<String> hindered(String name, String dc) {
    if (lagging.contains(dc)) {
      return Optional.of(dc + " takes no updates of _osier (is its disk full?)");
    }
    if (!told(name).getOrDefault(dc, Load.NONE).hasRoom(bytes(name))) {
      return Optional.of(dc + " has no room for it");
    }
    return Stream.concat(getting(dc), Stream.ofNullable(added.get(dc)))
        .filter(other -> !other.equals(name))
        .findFirst()
        .map(other -> dc + " is being added to " + other);
  }

  /** Returns the keyspaces that a datacenter is being added to; its told room lacks their bytes. */
  private Stream<String> getting(String dc) {
    return keyspaces.holders().entrySet().stream()
        .filter(e -> e.getValue().of(dc).catchesUp())
        .map(Map.Entry::getKey);
  }

  /**
   * Returns whether a keyspace to which this datacenter was added, and of which it has no data yet,
   * finds no room here beside the others with which it catches up: datacenters that decide about
   * two keyspaces at once may both count on the same room. It is not opened then, and is given up.
   */
  boolean lacksRoom(String name) {
    KeyspacePolicy policy = followed().get(name);
    HolderState self = all(name).of(members.self());
    if (policy == null
        || policy.rules().placement() != Placement.ADAPTIVE
        || !self.catchesUp()
        || self.removal().isPresent()
        || keyspaces.isOpen(name)
        || host.hasStored(name, of(name))) {
      return false;
    }
    double all =
        getting(members.self())
            .filter(other -> other.equals(name) || keyspaces.isOpen(other))
            .mapToDouble(this::bytes)
            .sum();
    Measured here = loads.measured(name);
    return !here.since(here, Load.NONE, settings.periodMillis()).hasRoom(all);
  }

  private PlacementPolicy.Keyspace figures(String name, KeyspacePolicy policy) {
    SortedMap<String, Load> all = told(name);
    SortedMap<String, Demand> demands = new TreeMap<>();
    all.forEach((dc, load) -> demands.put(dc, load.demand()));
    Collection<Load> each = all.values();
    Set<String> present = new TreeSet<>(whole(name)); // some may have been removed
    present.retainAll(members.staying());
    Set<String> candidates = mayHold(policy);
    candidates.removeIf(dc -> hindered(name, dc).isPresent());
    return new PlacementPolicy.Keyspace(
        demands,
        present,
        candidates,
        away(name).isEmpty(),
        policy.rules().least(),
        Load.shippedBytes(each).orElse(UPDATE_BYTES),
        bytes(name));
  }

  // ---------------------------------------------------------------- views for operators

  /** Returns the placements as known here. */
  List<PlacementView> views() {
    List<PlacementView> views = new ArrayList<>();
    followed().forEach((keyspace, policy) -> views.add(view(keyspace, policy)));
    return views;
  }

  private PlacementView view(String name, KeyspacePolicy policy) {
    String decider = decider(name);
    Counted it = counted.get(name);
    PlacementPolicy.Keyspace figures = figures(name, policy);
    Optional<String> awaited = awaited(name, policy);
    String said =
        it == null || awaited.isPresent() || !decider.equals(members.self()) ? "" : it.said;
    Move move = settings.policy().decide(figures);
    String expected =
        awaited
            .map(why -> "nothing moves: " + why)
            .orElseGet(
                () ->
                    move.kind() == Kind.STAY
                        ? stays(name, policy, move)
                        : words(move) + ", if " + decider + " finds so: " + move.why());
    return new PlacementView(
        name,
        policy.rules().placement().name().toLowerCase(Locale.ROOT),
        commands.states(name),
        decider,
        said.isEmpty() ? expected : said,
        told(name),
        PlacementAdvice.of(settings.policy(), figures));
  }
}
