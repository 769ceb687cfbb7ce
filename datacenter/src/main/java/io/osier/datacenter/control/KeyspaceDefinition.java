package io.osier.datacenter.control;

import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.core.ReplicaId;
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
import java.util.stream.Collectors;

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
 * @param homes by home, the replicas that it began with, if not those of the keyspace
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
    SortedMap<String, List<String>> homes,
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

  /** Precedes the names of the homes, after the number of partitions and the hash. */
  private static final String WITH_HOMES = " homes ";

  /** Precedes a home's replicas, after its name, if they differ from those of the keyspace. */
  private static final String HELD_BY = "=";

  /** Separates the replicas of a home. */
  private static final String AND = "+";

  KeyspaceDefinition {
    homes = new TreeMap<>(homes);
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
      KeyspacePolicy policy = KeyspaceSettings.read(name, settings(texts), known);
      return Optional.of(
          new KeyspaceDefinition(
              policy,
              HolderSet.of(map, created, policy, staying),
              created,
              homes(texts),
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
        new TreeMap<>(),
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
    String partitions = settings.getOrDefault(KeyspaceSettings.PARTITIONS, "");
    int homes = partitions.indexOf(WITH_HOMES);
    if (homes >= 0) {
      String named = partitions.substring(homes + WITH_HOMES.length());
      settings.put(KeyspaceSettings.HOMES, named.replaceAll(HELD_BY + "[^,]*", ""));
      partitions = partitions.substring(0, homes);
      settings.put(KeyspaceSettings.PARTITIONS, partitions);
    }
    if (partitions.endsWith(BY_TAG)) {
      settings.put(
          KeyspaceSettings.PARTITIONS,
          partitions.substring(0, partitions.length() - BY_TAG.length()));
      settings.put(KeyspaceSettings.HASH, "tag");
    }
    return settings;
  }

  private static SortedMap<String, List<String>> homes(SortedMap<String, String> texts) {
    SortedMap<String, List<String>> homes = replicasOfHomes(texts);
    homes.values().forEach(replicas -> replicas.forEach(ReplicaId::checkDcName));
    return homes;
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
    return policy.partitioning().homes().names().stream()
        .map(home -> home(policy.home(home), maps, staying))
        .toList();
  }

  private KeyspaceDefinition home(
      KeyspacePolicy as, Map<String, Reading> maps, List<String> staying) {
    Reading map = maps.getOrDefault(as.name(), new Reading.Fields(new TreeMap<>()));
    SortedMap<String, String> texts = ControlState.texts(map);
    List<String> replicas = homes.get(Homes.home(as.name()));
    KeyspacePolicy own =
        as.with(rules(texts)).withReplicas(replicas == null ? as.replicas() : replicas);
    return new KeyspaceDefinition(
        own,
        HolderSet.of(map, created, own, staying),
        created,
        new TreeMap<>(),
        replicas == null ? members : replicas,
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
        fields.put(
            KeyspaceSettings.PARTITIONS,
            policy.partitions()
                + (policy.partitioning().isByTag() ? BY_TAG : "")
                + (policies.size() == 1 ? "" : WITH_HOMES + homes(policies)));
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

  /** The homes of a keyspace, with their replicas where these are not those of the keyspace. */
  private static String homes(List<KeyspacePolicy> policies) {
    KeyspacePolicy base = policies.getFirst();
    return policies.stream()
        .skip(1)
        .map(
            home ->
                Homes.home(home.name())
                    + (home.replicas().equals(base.replicas())
                        ? ""
                        : HELD_BY + String.join(AND, home.replicas())))
        .collect(Collectors.joining(","));
  }

  /** The replicas that homes were created with, by home; of others those of the keyspace. */
  private static SortedMap<String, List<String>> replicasOfHomes(SortedMap<String, String> texts) {
    String partitions = texts.getOrDefault(KeyspaceSettings.PARTITIONS, "");
    int homes = partitions.indexOf(WITH_HOMES);
    SortedMap<String, List<String>> replicas = new TreeMap<>();
    if (homes >= 0) {
      for (String home : partitions.substring(homes + WITH_HOMES.length()).split(",", -1)) {
        int held = home.indexOf(HELD_BY);
        if (held >= 0) {
          String names = home.substring(held + HELD_BY.length());
          replicas.put(home.substring(0, held), List.of(names.split("\\" + AND, -1)));
        }
      }
    }
    return replicas;
  }
}
