package io.osier.datacenter.control;

import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A keyspace that was created at run time, or that the configuration files name, as a datacenter
 * knows it.
 *
 * <p>One that was created takes updates once every member has opened this creation of it. So if two
 * operators create the same name at two datacenters at once, only one succeeds: one creation wins
 * everywhere, and the other is never opened by all members, since its own author opens the winner
 * as soon as it hears of it.
 *
 * @param policy as it was created or as the files have it, and altered since; its replicas are
 *     those that it began with
 * @param holders who holds it by now
 * @param created tells it from another creation of the same name; {@link ControlHost#FROM_FILE} if
 *     the files name it
 * @param homes its homes besides the default one; none of a home
 * @param members the datacenters that must have opened it before it takes updates; none if the
 *     files name it
 * @param opened the creation that each datacenter has opened last
 * @param by who changed it last
 * @param atMillis when, as that one's clock says
 */
record KeyspaceDefinition(
    KeyspacePolicy policy,
    HolderSet holders,
    String created,
    HomeRecords homes,
    List<String> members,
    SortedMap<String, String> opened,
    String by,
    long atMillis) {
  /**
   * Follows the number of partitions of a keyspace that is hashed by tag. A version that does not
   * know this hash cannot read the number, and so takes no part in the keyspace: it would look for
   * keys in other partitions.
   */
  private static final String BY_TAG = " by tag";

  KeyspaceDefinition {
    members = List.copyOf(members);
    opened = new TreeMap<>(opened);
  }

  /**
   * Reads a created keyspace.
   *
   * @param texts the registers of its map
   * @param datacenters the names of all datacenters
   * @param staying as for {@link HolderSet#of}
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
      // A datacenter that is no longer configured is no reason to lose the keyspace.
      Set<String> known = new TreeSet<>(datacenters);
      known.addAll(List.of(members.split(",", -1)));
      HomeRecords homes = HomeRecords.of(texts, created);
      KeyspacePolicy read = KeyspaceSettings.read(name, settings(texts), known);
      KeyspacePolicy policy = read.with(read.partitioning().with(homes.homes()));
      return Optional.of(
          new KeyspaceDefinition(
              policy,
              HolderSet.of(map, created, policy, staying),
              created,
              homes,
              List.of(members.split(",", -1)),
              opened(texts),
              ControlState.by(texts),
              ControlState.atMillis(texts)));
    } catch (OsierException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Returns a keyspace that the configuration files name, and that nobody has altered. */
  static KeyspaceDefinition ofFile(KeyspacePolicy file, List<String> staying) {
    return ofFile(file, new Reading.Fields(new TreeMap<>()), staying);
  }

  /**
   * Returns a keyspace that the configuration files name.
   *
   * @param file the policy in the files
   * @param map the keyspace's map, with its alterations
   * @param datacenters the names of all datacenters
   * @param staying as for {@link HolderSet#of}
   */
  static KeyspaceDefinition ofFile(
      KeyspacePolicy file, Reading map, Set<String> datacenters, List<String> staying) {
    SortedMap<String, String> settings = KeyspaceSettings.all(file);
    SortedMap<String, String> changes = ControlState.settings(ControlState.texts(map));
    changes.keySet().retainAll(KeyspaceSettings.ALTERABLE);
    settings.putAll(changes);
    Set<String> known = new TreeSet<>(datacenters);
    known.addAll(file.replicas()); // datacenters may have left
    try {
      return ofFile(KeyspaceSettings.read(file.name(), settings, known), map, staying);
    } catch (OsierException e) {
      return ofFile(file, map, staying);
    }
  }

  private static KeyspaceDefinition ofFile(
      KeyspacePolicy policy, Reading map, List<String> staying) {
    SortedMap<String, String> texts = ControlState.texts(map);
    return new KeyspaceDefinition(
        policy,
        HolderSet.of(map, ControlHost.FROM_FILE, policy, staying),
        ControlHost.FROM_FILE,
        HomeRecords.NONE,
        List.of(),
        new TreeMap<>(),
        ControlState.by(texts),
        ControlState.atMillis(texts));
  }

  /** Returns whether the configuration files name it. */
  boolean isOfFile() {
    return created.equals(ControlHost.FROM_FILE);
  }

  /** The settings among the registers. */
  private static SortedMap<String, String> settings(SortedMap<String, String> texts) {
    SortedMap<String, String> settings = ControlState.settings(texts);
    settings.computeIfPresent(
        KeyspaceSettings.PARTITIONS, (name, text) -> HomeRecords.withoutHomes(text));
    String partitions = settings.getOrDefault(KeyspaceSettings.PARTITIONS, "");
    if (partitions.endsWith(BY_TAG)) {
      settings.put(
          KeyspaceSettings.PARTITIONS,
          partitions.substring(0, partitions.length() - BY_TAG.length()));
      settings.put(KeyspaceSettings.HASH, "tag");
    }
    return settings;
  }

  /** Returns the creation that each datacenter has opened last, by datacenter. */
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
   * Returns the keyspace's homes.
   *
   * @param maps the maps of homes, by name
   * @param staying as for {@link HolderSet#of}
   */
  List<KeyspaceDefinition> homes(Map<String, Reading> maps, List<String> staying) {
    return homes.withKeyspaces().stream()
        .map(home -> home(policy.home(home), maps, staying))
        .toList();
  }

  private KeyspaceDefinition home(
      KeyspacePolicy as, Map<String, Reading> maps, List<String> staying) {
    Reading map = maps.getOrDefault(as.name(), new Reading.Fields(new TreeMap<>()));
    SortedMap<String, String> texts = ControlState.texts(map);
    List<String> replicas = homes.began(Homes.home(as.name())).orElse(null);
    String awaited = texts.get(ControlState.MEMBERS); // of a home that was added
    KeyspacePolicy own =
        as.with(rules(texts)).withReplicas(replicas == null ? as.replicas() : replicas);
    return new KeyspaceDefinition(
        own,
        HolderSet.of(map, created, own, staying),
        created,
        HomeRecords.NONE,
        awaited != null ? List.of(awaited.split(",", -1)) : replicas == null ? members : replicas,
        opened(texts),
        ControlState.by(texts),
        ControlState.atMillis(texts));
  }

  /** Reads the rules of a home from its own map. */
  private PlacementRules rules(SortedMap<String, String> texts) {
    SortedMap<String, String> settings = new TreeMap<>(texts);
    settings.keySet().retainAll(KeyspaceSettings.RULES);
    try {
      return KeyspaceSettings.read("home", settings, Set.copyOf(members)).rules();
    } catch (OsierException e) {
      // A later version wrote other rules: until this datacenter is upgraded, it changes no holders
      // here.
      return new PlacementRules(
          PlacementRules.Placement.FIXED, KeyspaceSettings.HOLDERS_MAX, members, List.of());
    }
  }

  /** Returns the members that have not opened it yet. */
  List<String> awaited() {
    return members.stream().filter(dc -> !created.equals(opened.get(dc))).toList();
  }

  boolean isOpenAt(String dc) {
    return created.equals(opened.get(dc));
  }

  // ---------------------------------------------------------------- how it is noted

  /**
   * Creates a keyspace, with its homes; its author has opened those that it holds. A version that
   * knows no homes takes each of them for a creation of a later version, too; and one that knows no
   * homes with replicas of their own the whole keyspace.
   *
   * @param policies of the keyspace, and of its homes
   * @param datacenters that must open what all hold
   */
  static List<Operation> create(
      List<KeyspacePolicy> policies,
      String created,
      Collection<String> datacenters,
      String author,
      String by,
      long nowMillis) {
    KeyspacePolicy base = policies.getFirst();
    List<Operation> all = new ArrayList<>();
    for (KeyspacePolicy policy : policies) {
      SortedMap<String, String> fields = KeyspaceSettings.all(policy);
      if (policy.equals(base)) {
        fields.remove(KeyspaceSettings.HASH);
        fields.remove(KeyspaceSettings.HOMES);
        if (policy.staleReads().isZero()) { // says nothing, also to versions that do not know it
          fields.remove(KeyspaceSettings.STALE_READS);
        }
        fields.put(KeyspaceSettings.PARTITIONS, partitions(policy) + homes(policies).text());
        fields.put(
            ControlState.MEMBERS,
            String.join(",", base.replicas().isEmpty() ? datacenters : base.replicas()));
      } else {
        fields.keySet().retainAll(KeyspaceSettings.RULES); // all else of a home is the keyspace's
      }
      fields.put(ControlState.CREATED, created);
      if ((policy.replicas().isEmpty() ? datacenters : policy.replicas()).contains(author)) {
        fields.put(ControlState.OPENED + author, created);
      }
      all.add(ControlState.set(policy.name(), fields, by, nowMillis));
    }
    return all;
  }

  /** Returns the register {@code partitions} without the homes. */
  private static String partitions(KeyspacePolicy policy) {
    return policy.partitions() + (policy.partitioning().isByTag() ? BY_TAG : "");
  }

  /** The homes of a keyspace, with their replicas where these are not those of the keyspace. */
  private static HomeRecords homes(List<KeyspacePolicy> policies) {
    KeyspacePolicy base = policies.getFirst();
    List<String> names = new ArrayList<>();
    SortedMap<String, List<String>> replicas = new TreeMap<>();
    for (KeyspacePolicy home : policies.subList(1, policies.size())) {
      names.add(Homes.home(home.name()));
      if (!home.replicas().equals(base.replicas())) {
        replicas.put(names.getLast(), home.replicas());
      }
    }
    return new HomeRecords(names, List.of(), replicas, Optional.empty(), new TreeMap<>(), "");
  }

  /**
   * Returns the operation that alters the homes.
   *
   * @param next the homes from now on
   * @param why homes were not added, in words; empty if they were, or are being added
   */
  Operation with(HomeRecords next, String why, String by, long nowMillis) {
    return ControlState.alter(
        name(), created, next.registers(partitions(policy), created, why), by, nowMillis);
  }

  /**
   * Returns the operations that open the homes that are being added: they begin with the keyspace's
   * rules, and take updates once these datacenters know that they were added.
   */
  List<Operation> opening(Collection<String> datacenters, String by, long nowMillis) {
    List<Operation> all = new ArrayList<>();
    all.add(with(homes.opening(), "", by, nowMillis));
    for (String home : homes.addition().orElseThrow().homes()) {
      SortedMap<String, String> fields = KeyspaceSettings.all(policy);
      fields.keySet().retainAll(KeyspaceSettings.RULES); // all else of a home is the keyspace's
      fields.put(ControlState.CREATED, created);
      fields.put(ControlState.MEMBERS, String.join(",", datacenters));
      all.add(ControlState.set(Homes.keyspace(name(), home), fields, by, nowMillis));
    }
    return all;
  }

  /** Returns whether this is a home that was added to its keyspace, or is being added. */
  boolean isAddedHome() {
    Homes all = policy.partitioning().homes();
    return Homes.isHome(name()) && !all.first().names().contains(Homes.home(name()));
  }

  /** Returns whether this is a home that is still being added. */
  boolean isBeingAdded() {
    return policy.partitioning().homes().adding().contains(Homes.home(name()));
  }
}
