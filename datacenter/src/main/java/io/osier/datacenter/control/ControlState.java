package io.osier.datacenter.control;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.placement.Load;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The keyspaces in {@code _osier} at one moment. Immutable and pure.
 *
 * <p>{@link #KEYSPACES} is a map with a map for each keyspace, whose fields are registers: the
 * settings by their names, and other records under names with {@code _}. For a keyspace that the
 * configuration files name, there are only the altered settings. Of concurrent alterations the last
 * writer's holds, field by field; a keyspace that is dropped at one datacenter and altered at
 * another at the same time is dropped, since the rest of its map lacks the creation.
 *
 * <p>A keyspace's own map names its homes. A home's map has its holders and the datacenters that
 * have opened it, with the creation that is meant; its settings are those of the keyspace.
 *
 * @param created the keyspaces that were created at run time
 * @param configured the keyspaces that the files name, as altered since
 * @param unreadable creations that this version cannot read, by name: they are neither opened nor
 *     dropped
 * @param remains names of maps with only meaningless remains
 * @param clashing names of keyspaces created at run time that the files name, too
 * @param loads the load of keyspaces whose holders follow it, by keyspace and datacenter
 */
record ControlState(
    SortedMap<String, KeyspaceDefinition> created,
    SortedMap<String, KeyspaceDefinition> configured,
    SortedMap<String, String> unreadable,
    List<String> remains,
    List<String> clashing,
    SortedMap<String, SortedMap<String, Load>> loads) {
  static final ObjectId KEYSPACES = new ObjectId(Key.of("keyspaces"), CrdtType.OR_MAP);

  static final String CREATED = "_created";
  static final String MEMBERS = "_members";
  static final String OPENED = "_opened.";
  private static final String LOAD = "_load.";
  private static final String BY = "_by";

  /** The creation that was altered. */
  private static final String OF = "_of";

  private static final String AT = "_at";

  /**
   * Reads the keyspaces.
   *
   * @param keyspaces the map {@link #KEYSPACES}
   * @param files the keyspaces that the files name, by name
   * @param datacenters the names of all datacenters
   * @param staying those of them that have caught up and do not leave
   */
  static ControlState of(
      Reading.Fields keyspaces,
      Map<String, KeyspacePolicy> files,
      Set<String> datacenters,
      List<String> staying) {
    SortedMap<String, KeyspaceDefinition> created = new TreeMap<>();
    SortedMap<String, KeyspaceDefinition> configured = new TreeMap<>();
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
              KeyspacePolicy file = files.get(field.name());
              if (file != null) {
                if (texts.containsKey(CREATED)) {
                  clashing.add(field.name());
                }
                configured.put(
                    field.name(), KeyspaceDefinition.ofFile(file, reading, datacenters, staying));
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
    files.forEach(
        (name, policy) ->
            configured.computeIfAbsent(name, k -> KeyspaceDefinition.ofFile(policy, staying)));
    List.copyOf(created.values())
        .forEach(of -> of.homes(homes, staying).forEach(home -> created.put(home.name(), home)));
    homes.forEach(
        (name, reading) -> {
          String base = Homes.base(name);
          String creation = texts(reading).get(CREATED);
          if (!unreadable.containsKey(base) && !files.containsKey(base)) {
            if (!created.containsKey(name)) {
              remains.add(name);
            }
          } else if (creation != null) {
            unreadable.put(name, creation); // its keyspace is not visible here
          }
        });
    return new ControlState(
        created, configured, unreadable, List.copyOf(remains), List.copyOf(clashing), loads);
  }

  /**
   * Returns whether a map belongs to a dropped creation, and not to a keyspace of other
   * datacenters' files.
   */
  private static boolean isLeftOver(SortedMap<String, String> texts) {
    return !texts.containsKey(CREATED)
        && (texts.containsKey(OF)
            || texts.entrySet().stream().allMatch(e -> isOfOne(e.getKey(), e.getValue())));
  }

  private static boolean isOfOne(String field, String value) {
    return field.startsWith(OPENED)
        || field.startsWith(HomeRecords.FOUND)
        || (field.startsWith(LOAD) && !value.startsWith(ControlHost.FROM_FILE + " "));
  }

  /** Reads the load that datacenters have recorded for this creation. */
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

  /** Returns the registers of a map, by name. */
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

  /** Returns all keyspaces that can be read: those created at run time, then the files'. */
  List<KeyspaceDefinition> all() {
    return Stream.of(created, configured).flatMap(some -> some.values().stream()).toList();
  }

  /** Returns a keyspace that can be read; empty if there is none of that name. */
  Optional<KeyspaceDefinition> find(String name) {
    return Optional.ofNullable(created.get(name))
        .or(() -> Optional.ofNullable(configured.get(name)));
  }

  /** Returns the existing creations, readable or not, by name. */
  SortedMap<String, String> creations() {
    SortedMap<String, String> all = new TreeMap<>(unreadable);
    created.forEach((name, definition) -> all.put(name, definition.created()));
    return all;
  }

  /** Returns the settings among the fields. */
  static SortedMap<String, String> settings(SortedMap<String, String> texts) {
    SortedMap<String, String> settings = new TreeMap<>();
    texts.forEach(
        (name, value) -> {
          if (KeyspaceSettings.ALTERABLE.contains(name) || KeyspaceSettings.FIXED.contains(name)) {
            settings.put(name, value);
          }
        });
    return settings;
  }

  /** Returns who made the last change. */
  static String by(SortedMap<String, String> texts) {
    return texts.getOrDefault(BY, "");
  }

  /** Returns when the last change was made. */
  static long atMillis(SortedMap<String, String> texts) {
    return number(texts, AT);
  }

  /** Who changed something last, and when, for an error; nothing if nobody has. */
  static String changed(String by, long atMillis) {
    return atMillis == 0
        ? ""
        : " (changed last by %s at %s)"
            .formatted(by, Instant.ofEpochMilli(atMillis).truncatedTo(ChronoUnit.SECONDS));
  }

  /** A number among the fields; 0 if it is not there. */
  static long number(SortedMap<String, String> texts, String field) {
    try {
      return Long.parseLong(texts.getOrDefault(field, "0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  // ---------------------------------------------------------------- changes

  /**
   * Alters settings of a keyspace.
   *
   * @param created the creation that is meant
   */
  static Operation alter(
      String name, String created, SortedMap<String, String> settings, String by, long nowMillis) {
    SortedMap<String, String> fields = new TreeMap<>(settings);
    if (!created.equals(ControlHost.FROM_FILE)) {
      fields.put(OF, created);
    }
    return set(name, fields, by, nowMillis);
  }

  /** Sets fields of a keyspace's map, and notes who did it, and when. */
  static Operation set(String name, SortedMap<String, String> fields, String by, long nowMillis) {
    fields.put(BY, by);
    fields.put(AT, Long.toString(nowMillis));
    return assign(name, fields);
  }

  /** Returns the operation that notes that a datacenter has opened a creation of a keyspace. */
  static Operation opened(String name, String dc, String created) {
    return assign(name, new TreeMap<>(Map.of(OPENED + dc, created)));
  }

  /** Returns the operation that records the load of a creation at a datacenter. */
  static Operation load(String name, String dc, String created, Load load) {
    return assign(name, new TreeMap<>(Map.of(LOAD + dc, created + " " + load.text())));
  }

  /** Returns the operation that removes a datacenter's load, which it no longer counts. */
  static Operation noLoad(String name, String dc) {
    return new Operation.UpdateFields(
        new FieldId(name, CrdtType.OR_MAP), new Operation.RemoveFields(List.of(LOAD + dc)));
  }

  /** Returns the operation that assigns registers of a keyspace's map. */
  static Operation assign(String name, SortedMap<String, String> fields) {
    return update(name, fields, List.of());
  }

  /** Returns the operation that assigns registers of a map within the map, and enables flags. */
  static Operation update(
      String name, SortedMap<String, String> registers, Collection<FieldId> flags) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    registers.forEach(
        (field, value) ->
            updates.add(
                new Operation.FieldUpdate(
                    new FieldId(field, CrdtType.LWW_REGISTER),
                    new Operation.Assign(Value.of(value)))));
    flags.forEach(f -> updates.add(new Operation.FieldUpdate(f, new Operation.SetFlag(true))));
    return new Operation.UpdateFields(
        new FieldId(name, CrdtType.OR_MAP), new Operation.UpdateFields(updates));
  }

  /** Returns the operation that drops a keyspace, as far as it is known here. */
  static Operation drop(String name) {
    return new Operation.RemoveFields(List.of(name));
  }
}
