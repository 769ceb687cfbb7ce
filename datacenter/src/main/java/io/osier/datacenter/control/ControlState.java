package io.osier.datacenter.control;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.placement.Load;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the keyspace {@code _osier} says at one moment. Immutable and pure.
 *
 * <p>{@link #KEYSPACES} is a map with a map for each keyspace, whose fields are registers: the
 * settings by their names, and what is told with {@code _}. Of a keyspace that the configuration
 * files name there are only the settings that were altered. What is altered at two datacenters at
 * once holds by field, the last writer's; a keyspace that is dropped at one and altered at another
 * at the same time is dropped, since what is left of it lacks its creation.
 *
 * <p>The homes of a keyspace are what its own map says of it. A home's map says who holds it and
 * has opened it, with the creation that is meant; its settings are those of the keyspace.
 *
 * @param created the keyspaces that were created at run time
 * @param altered by name, what was altered of keyspaces that the files name
 * @param maps by name, all that is said of keyspaces that the files name
 * @param unreadable by name, creations that this version cannot read: they are neither opened nor
 *     dropped
 * @param remains names of which only something is left that means nothing
 * @param clashing names that were created at run time, and that the files name, too
 * @param staying the datacenters that have what they hold, and do not leave
 * @param loads by keyspace and datacenter, what is asked of keyspaces whose holders follow that
 */
record ControlState(
    SortedMap<String, KeyspaceDefinition> created,
    SortedMap<String, SortedMap<String, String>> altered,
    SortedMap<String, Reading> maps,
    SortedMap<String, String> unreadable,
    List<String> remains,
    List<String> clashing,
    List<String> staying,
    SortedMap<String, SortedMap<String, Load>> loads) {
  static final ObjectId KEYSPACES = new ObjectId(Key.of("keyspaces"), CrdtType.OR_MAP);

  static final String CREATED = "_created";
  static final String MEMBERS = "_members";
  static final String OPENED = "_opened.";
  private static final String LOAD = "_load.";
  private static final String BY = "_by";

  /**
   * Ends the number of partitions of a keyspace that is hashed by tag: what cannot read that takes
   * no part in the keyspace, and would be wrong of where its keys are.
   */
  private static final String BY_TAG = " by tag";

  /** Behind that, in the same way, the homes of a keyspace that has some. */
  private static final String WITH_HOMES = " homes ";

  /** The creation that was altered. */
  private static final String OF = "_of";

  private static final String AT = "_at";
  private static final SortedMap<String, String> NO_TEXTS =
      Collections.unmodifiableSortedMap(new TreeMap<>());
  private static final Reading NO_FIELDS = new Reading.Fields(new TreeMap<>());

  /** Nothing was ever changed. */
  static final ControlState NOTHING =
      new ControlState(
          new TreeMap<>(),
          new TreeMap<>(),
          new TreeMap<>(),
          new TreeMap<>(),
          List.of(),
          List.of(),
          List.of(),
          new TreeMap<>());

  /**
   * Reads it.
   *
   * @param keyspaces of {@link #KEYSPACES}
   * @param configured the names of the keyspaces that the files name
   * @param datacenters the names of all datacenters
   * @param staying those of them that have what they hold, and do not leave
   */
  static ControlState of(
      Reading.Fields keyspaces,
      Set<String> configured,
      Set<String> datacenters,
      List<String> staying) {
    SortedMap<String, KeyspaceDefinition> created = new TreeMap<>();
    SortedMap<String, SortedMap<String, String>> altered = new TreeMap<>();
    SortedMap<String, Reading> maps = new TreeMap<>();
    SortedMap<String, String> unreadable = new TreeMap<>();
    List<String> remains = new ArrayList<>();
    List<String> clashing = new ArrayList<>();
    SortedMap<String, Reading> homes = new TreeMap<>();
    SortedMap<String, SortedMap<String, Load>> loads = new TreeMap<>();
    keyspaces
        .fields()
        .forEach(
            (field, reading) -> {
              SortedMap<String, String> texts = texts(reading);
              loads.put(field.name(), loads(texts));
              if (Homes.isHome(field.name())) {
                homes.put(field.name(), reading);
                return;
              }
              if (configured.contains(field.name())) {
                if (texts.containsKey(CREATED)) {
                  clashing.add(field.name());
                }
                altered.put(field.name(), texts);
                maps.put(field.name(), reading);
                return;
              }
              Optional<KeyspaceDefinition> definition =
                  KeyspaceDefinition.of(field.name(), reading, texts, datacenters, staying);
              if (definition.isPresent()) {
                created.put(field.name(), definition.get());
              } else if (texts.containsKey(CREATED)) {
                unreadable.put(field.name(), texts.get(CREATED));
              } else if (isLeftOver(texts)) {
                remains.add(field.name());
              }
            });
    List.copyOf(created.values())
        .forEach(of -> of.homes(homes, staying).forEach(home -> created.put(home.name(), home)));
    homes.forEach(
        (name, reading) -> {
          String base = Homes.base(name);
          String creation = texts(reading).get(CREATED);
          if (!unreadable.containsKey(base) && !configured.contains(base)) {
            if (!created.containsKey(name)) {
              remains.add(name);
            }
          } else if (creation != null) {
            unreadable.put(name, creation); // this datacenter does not see whose home it is
          }
        });
    return new ControlState(
        created,
        altered,
        maps,
        unreadable,
        List.copyOf(remains),
        List.copyOf(clashing),
        List.copyOf(staying),
        loads);
  }

  /** What was told of a creation that is dropped by now, and not of a keyspace of others' files. */
  private static boolean isLeftOver(SortedMap<String, String> texts) {
    return !texts.containsKey(CREATED)
        && (texts.containsKey(OF)
            || texts.entrySet().stream().allMatch(e -> isOfOne(e.getKey(), e.getValue())));
  }

  private static boolean isOfOne(String field, String value) {
    return field.startsWith(OPENED)
        || (field.startsWith(LOAD) && !value.startsWith(ControlHost.FROM_FILE + " "));
  }

  /** What datacenters have told of this creation. */
  private static SortedMap<String, Load> loads(SortedMap<String, String> texts) {
    String creation = texts.getOrDefault(CREATED, ControlHost.FROM_FILE) + " ";
    SortedMap<String, Load> loads = new TreeMap<>();
    texts.forEach(
        (field, value) -> {
          if (field.startsWith(LOAD) && value.startsWith(creation)) {
            loads.put(field.substring(LOAD.length()), Load.of(value.substring(creation.length())));
          }
        });
    return loads;
  }

  /** The registers of a map, by name. */
  static SortedMap<String, String> texts(Reading reading) {
    SortedMap<String, String> texts = new TreeMap<>();
    if (reading instanceof Reading.Fields fields) {
      fields
          .fields()
          .forEach(
              (field, value) -> {
                if (value instanceof Reading.Single single) {
                  single.value().ifPresent(v -> texts.put(field.name(), text(v)));
                }
              });
    }
    return texts;
  }

  private static String text(Value value) {
    return value instanceof Value.Str text ? text.content() : "";
  }

  /** Who holds a keyspace that the files name. */
  HolderSet holders(KeyspacePolicy configured) {
    Reading map = maps.getOrDefault(configured.name(), NO_FIELDS);
    SortedMap<String, String> changes = altered.getOrDefault(configured.name(), NO_TEXTS);
    boolean hasRules =
        !configured.replicas().isEmpty()
            && changes.keySet().stream().anyMatch(KeyspaceSettings.RULES::contains);
    KeyspacePolicy policy = hasRules ? altered(configured, Set.of()) : configured;
    return HolderSet.of(map, ControlHost.FROM_FILE, policy, staying);
  }

  /** By name, the creations that there are, readable or not. */
  SortedMap<String, String> creations() {
    SortedMap<String, String> all = new TreeMap<>(unreadable);
    created.forEach((name, definition) -> all.put(name, definition.created()));
    return all;
  }

  /** The settings among the fields. */
  static SortedMap<String, String> settings(SortedMap<String, String> texts) {
    SortedMap<String, String> settings = new TreeMap<>();
    texts.forEach(
        (name, value) -> {
          if (KeyspaceSettings.ALTERABLE.contains(name) || KeyspaceSettings.FIXED.contains(name)) {
            settings.put(name, value);
          }
        });
    String partitions = settings.getOrDefault(KeyspaceSettings.PARTITIONS, "");
    int homes = partitions.indexOf(WITH_HOMES);
    if (homes >= 0) {
      settings.put(KeyspaceSettings.HOMES, partitions.substring(homes + WITH_HOMES.length()));
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

  /** Who changed it last. */
  static String by(SortedMap<String, String> texts) {
    return texts.getOrDefault(BY, "");
  }

  /** When it was changed last. */
  static long atMillis(SortedMap<String, String> texts) {
    return number(texts, AT);
  }

  /** A number among the fields; 0 if it is not there. */
  static long number(SortedMap<String, String> texts, String field) {
    try {
      return Long.parseLong(texts.getOrDefault(field, "0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /**
   * The policy of a keyspace that the files name, as it was altered.
   *
   * @param configured as the files say
   */
  KeyspacePolicy altered(KeyspacePolicy configured, Set<String> datacenters) {
    SortedMap<String, String> changes = altered.get(configured.name());
    if (changes == null) {
      return configured;
    }
    SortedMap<String, String> settings = KeyspaceSettings.all(configured);
    settings(changes)
        .forEach(
            (name, value) -> {
              if (KeyspaceSettings.ALTERABLE.contains(name)) {
                settings.put(name, value);
              }
            });
    Set<String> known = new TreeSet<>(datacenters);
    known.addAll(configured.replicas()); // some may have left
    try {
      return KeyspaceSettings.read(configured.name(), settings, known);
    } catch (OsierException e) {
      return configured;
    }
  }

  // ---------------------------------------------------------------- changes

  /**
   * Creates a keyspace, with its homes; its author has opened those that it holds. A version that
   * knows no homes takes each of them for a creation of a later version, too.
   */
  static List<Operation> create(
      KeyspacePolicy policy,
      String created,
      Collection<String> members,
      String author,
      String by,
      long nowMillis) {
    SortedMap<String, String> fields = KeyspaceSettings.all(policy);
    fields.remove(KeyspaceSettings.HASH);
    fields.remove(KeyspaceSettings.HOMES);
    if (policy.staleReads().isZero()) { // it says nothing, also to versions that do not know it
      fields.remove(KeyspaceSettings.STALE_READS);
    }
    Homes homes = policy.partitioning().homes();
    fields.put(
        KeyspaceSettings.PARTITIONS,
        policy.partitions()
            + (policy.partitioning().isByTag() ? BY_TAG : "")
            + (homes.isEmpty() ? "" : WITH_HOMES + homes));
    fields.put(MEMBERS, String.join(",", members));
    List<Operation> all = new ArrayList<>();
    for (String name : homes.keyspaces(policy.name())) {
      fields.put(CREATED, created);
      if (members.contains(author)) {
        fields.put(OPENED + author, created);
      }
      all.add(set(name, fields, by, nowMillis));
      fields.keySet().retainAll(KeyspaceSettings.RULES); // all else of a home is the keyspace's
    }
    return all;
  }

  /**
   * Alters settings of a keyspace.
   *
   * @param created the creation that is meant; empty for one that the files name
   */
  static Operation alter(
      String name,
      Optional<String> created,
      SortedMap<String, String> settings,
      String by,
      long nowMillis) {
    SortedMap<String, String> fields = new TreeMap<>(settings);
    created.ifPresent(c -> fields.put(OF, c));
    return set(name, fields, by, nowMillis);
  }

  private static Operation set(
      String name, SortedMap<String, String> fields, String by, long nowMillis) {
    fields.put(BY, by);
    fields.put(AT, Long.toString(nowMillis));
    return assign(name, fields);
  }

  /** Notes that a datacenter has opened a creation of a keyspace. */
  static Operation opened(String name, String dc, String created) {
    return assign(name, new TreeMap<>(Map.of(OPENED + dc, created)));
  }

  /** Notes what is asked of a creation of a keyspace at a datacenter. */
  static Operation load(String name, String dc, String created, Load load) {
    return assign(name, new TreeMap<>(Map.of(LOAD + dc, created + " " + load.text())));
  }

  /** Nothing is counted there any more. */
  static Operation noLoad(String name, String dc) {
    return new Operation.UpdateFields(
        new FieldId(name, CrdtType.OR_MAP), new Operation.RemoveFields(List.of(LOAD + dc)));
  }

  private static Operation assign(String name, SortedMap<String, String> fields) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    fields.forEach(
        (field, value) ->
            updates.add(
                new Operation.FieldUpdate(
                    new FieldId(field, CrdtType.LWW_REGISTER),
                    new Operation.Assign(Value.of(value)))));
    return new Operation.UpdateFields(
        new FieldId(name, CrdtType.OR_MAP), new Operation.UpdateFields(updates));
  }

  /** Drops a keyspace, as far as it is known here. */
  static Operation drop(String name) {
    return new Operation.RemoveFields(List.of(name));
  }
}
