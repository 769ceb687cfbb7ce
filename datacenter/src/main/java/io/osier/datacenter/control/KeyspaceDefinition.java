package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A keyspace that was created at run time, as a datacenter knows it.
 *
 * <p>It takes updates once every member has opened this creation of it. Two operators who create
 * the same name at two datacenters at once therefore cannot both succeed: of the two creations one
 * wins everywhere, and the other is opened by all members at no time, since its own author opens
 * the winner instead as soon as it hears of it.
 *
 * @param policy as it was created, and altered since; its replicas are those that it began with
 * @param holders who holds it by now
 * @param created tells it from another creation of the same name
 * @param members the datacenters that must have opened it before it takes updates
 * @param opened by datacenter, the creation that it has opened last
 * @param by who changed it last
 * @param atMillis when, as that one's clock says
 */
record KeyspaceDefinition(
    KeyspacePolicy policy,
    HolderSet holders,
    String created,
    List<String> members,
    SortedMap<String, String> opened,
    String by,
    long atMillis) {
  KeyspaceDefinition {
    members = List.copyOf(members);
    opened = new TreeMap<>(opened);
  }

  /**
   * Reads a keyspace that was created.
   *
   * @param texts the registers of its map
   * @param datacenters the names of all
   * @param staying as {@link HolderSet#of} takes it
   * @return empty if it was not created, or by a version that knows other settings
   */
  static Optional<KeyspaceDefinition> of(
      String name,
      Reading map,
      SortedMap<String, String> texts,
      Set<String> datacenters,
      List<String> staying) {
    String created = texts.get(ControlState.CREATED);
    String members = texts.get(ControlState.MEMBERS);
    if (created == null || members == null) {
      return Optional.empty();
    }
    try {
      // A datacenter that is not configured any more is no reason to lose the keyspace.
      Set<String> known = new TreeSet<>(datacenters);
      known.addAll(List.of(members.split(",", -1)));
      KeyspacePolicy policy = KeyspaceSettings.read(name, ControlState.settings(texts), known);
      return Optional.of(
          new KeyspaceDefinition(
              policy,
              HolderSet.of(map, created, policy, staying),
              created,
              List.of(members.split(",", -1)),
              opened(texts),
              ControlState.by(texts),
              ControlState.atMillis(texts)));
    } catch (OsierException e) {
      return Optional.empty();
    }
  }

  /** By datacenter, the creation that it has opened last. */
  private static SortedMap<String, String> opened(SortedMap<String, String> texts) {
    SortedMap<String, String> opened = new TreeMap<>();
    texts.forEach(
        (field, value) -> {
          if (field.startsWith(ControlState.OPENED)) {
            opened.put(field.substring(ControlState.OPENED.length()), value);
          }
        });
    return opened;
  }

  String name() {
    return policy.name();
  }

  /**
   * Its homes.
   *
   * @param maps by name, what is said of homes
   * @param staying as {@link HolderSet#of} takes it
   */
  List<KeyspaceDefinition> homes(Map<String, Reading> maps, List<String> staying) {
    return policy.partitioning().homes().names().stream()
        .map(home -> home(policy.home(home), maps, staying))
        .toList();
  }

  private KeyspaceDefinition home(
      KeyspacePolicy as, Map<String, Reading> maps, List<String> staying) {
    Reading map = maps.getOrDefault(as.name(), new Reading.Fields(new TreeMap<>()));
    SortedMap<String, String> texts = ControlState.texts(map);
    KeyspacePolicy own = as.with(rules(texts));
    return new KeyspaceDefinition(
        own,
        HolderSet.of(map, created, own, staying),
        created,
        members,
        opened(texts),
        ControlState.by(texts),
        ControlState.atMillis(texts));
  }

  /** The rules of a home, which its own map says. */
  private PlacementRules rules(SortedMap<String, String> texts) {
    SortedMap<String, String> settings = new TreeMap<>(texts);
    settings.keySet().retainAll(KeyspaceSettings.RULES);
    try {
      return KeyspaceSettings.read("home", settings, Set.copyOf(members)).rules();
    } catch (OsierException e) {
      // Of a version that has others: until this one is upgraded, nothing of its holders changes.
      return new PlacementRules(
          PlacementRules.Placement.FIXED, KeyspaceSettings.HOLDERS_MAX, members, List.of());
    }
  }

  /** Those that have not opened it yet. */
  List<String> awaited() {
    return members.stream().filter(dc -> !created.equals(opened.get(dc))).toList();
  }

  boolean isOpenAt(String dc) {
    return created.equals(opened.get(dc));
  }
}
