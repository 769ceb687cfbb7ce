package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Converts a keyspace's policy from and to settings with the names of the configuration file, as
 * operators give them at run time and the control plane keeps them. Pure.
 */
public final class KeyspaceSettings {
  private static final String SLA = "sla";
  private static final String PROPAGATION = "propagation";
  private static final String PAYLOAD = "payload";
  private static final String HISTORY = "history";
  private static final String CONSISTENCY = "consistency";
  private static final String PLACEMENT = "placement";
  private static final String HOLDERS_MIN = "holders-min";
  private static final String ALLOW = "allow";
  private static final String DENY = "deny";
  private static final String LIMIT_KEY = "limits.key";
  private static final String LIMIT_VALUE = "limits.value";
  private static final String LIMIT_OBJECT = "limits.object";

  /** Which part of a key determines its partition. */
  public static final String HASH = "hash";

  /** The homes of its keys besides the default one. */
  public static final String HOMES = "homes";

  public static final String PARTITIONS = "partitions";

  /** How old a copy may be that answers while no holder can be reached. */
  public static final String STALE_READS = "stale-reads";

  /** Who holds it: more can be added while it serves, by another way than the others. */
  public static final String REPLICAS = "replicas";

  /** So many holders may be asked for at least. */
  public static final int HOLDERS_MAX = 1_000;

  /** The rules of who may hold it, and who changes that. */
  public static final Set<String> RULES =
      new TreeSet<>(List.of(PLACEMENT, HOLDERS_MIN, ALLOW, DENY));

  private static final Set<String> NAMES = Set.of(REPLICAS, ALLOW, DENY, HOMES);

  /** Those that can be altered while the keyspace serves. */
  public static final Set<String> ALTERABLE =
      new TreeSet<>(
          List.of(
              SLA,
              PROPAGATION,
              PAYLOAD,
              HISTORY,
              STALE_READS,
              PLACEMENT,
              HOLDERS_MIN,
              ALLOW,
              DENY,
              LIMIT_KEY,
              LIMIT_VALUE,
              LIMIT_OBJECT));

  /** The settings that are given when the keyspace is created, and stay. */
  public static final Set<String> FIXED =
      new TreeSet<>(List.of(CONSISTENCY, HASH, HOMES, PARTITIONS, REPLICAS));

  private KeyspaceSettings() {}

  /**
   * Reads the policy of a keyspace that is created: as {@link #read}, and one with homes that two
   * datacenters or more hold has two holders at least, unless another number is said.
   */
  public static KeyspacePolicy created(
      String name, Map<String, String> settings, Set<String> datacenters) {
    return paired(read(name, settings, datacenters));
  }

  /** A keyspace or home, with two holders at least if it is one that {@link #created} means. */
  static KeyspacePolicy paired(KeyspacePolicy policy) {
    return policy.partitioning().homes().isEmpty() || policy.replicas().size() < 2
        ? policy
        : policy.with(policy.rules().pairs());
  }

  /**
   * Reads a policy.
   *
   * @param settings the settings; missing ones have the configuration's defaults
   * @param datacenters the names of all datacenters
   * @throws OsierException INVALID_ARGUMENT, which names what is wrong and what is allowed
   */
  public static KeyspacePolicy read(
      String name, Map<String, String> settings, Set<String> datacenters) {
    try {
      KeyspacePolicy.checkName(name);
    } catch (IllegalArgumentException e) {
      throw new OsierException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
    }
    Map<String, Object> values = new LinkedHashMap<>();
    settings.forEach(
        (key, value) -> {
          if (!ALTERABLE.contains(key) && !FIXED.contains(key)) {
            throw new OsierException(
                ErrorCode.INVALID_ARGUMENT,
                "a keyspace has no setting '"
                    + key
                    + "'; it has "
                    + String.join(", ", FIXED)
                    + ", "
                    + String.join(", ", ALTERABLE));
          }
          if (key.equals(HOMES) && list(value).isEmpty()) {
            throw new OsierException(
                ErrorCode.INVALID_ARGUMENT,
                "keyspace '%s': homes must be %s, not '%s'"
                    .formatted(name, KeyspaceReader.HOMES, value));
          }
          values.put(key, NAMES.contains(key) ? list(value) : value);
        });
    String prefix = KeyspaceReader.KEYSPACES + ".it";
    Config own;
    try {
      own = ConfigFactory.parseMap(Map.of(prefix, values), "keyspace '" + name + "'");
    } catch (ConfigException e) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "keyspace '" + name + "': " + e.getMessage());
    }
    try {
      return KeyspaceReader.read("keyspace '" + name + "'", own, name, prefix, datacenters);
    } catch (OsierException e) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          String.valueOf(e.reason())
              .replace(prefix + ": ", "")
              .replace(prefix + ".", "")
              .replace(prefix, "it"));
    }
  }

  private static List<String> list(String text) {
    return text.isBlank() || text.equals("all")
        ? List.of()
        : Arrays.stream(text.split(",", -1)).map(String::strip).toList();
  }

  /**
   * The settings of a policy, as {@link #read} takes them; of the rules, and of stale reads, those
   * that say something.
   */
  public static SortedMap<String, String> of(KeyspacePolicy policy) {
    SortedMap<String, String> settings = all(policy);
    rules(PlacementRules.NONE).forEach((name, value) -> settings.remove(name, value));
    settings.remove(STALE_READS, millis(Duration.ZERO));
    return settings;
  }

  /** Returns all settings of a policy. */
  public static SortedMap<String, String> all(KeyspacePolicy policy) {
    SortedMap<String, String> settings = alterable(policy);
    settings.putAll(rules(policy.rules()));
    settings.put(CONSISTENCY, lower(policy.consistency()));
    settings.put(HASH, lower(policy.partitioning().hash()));
    if (!policy.partitioning().homes().isEmpty()) {
      settings.put(HOMES, policy.partitioning().homes().toString());
    }
    settings.put(PARTITIONS, Integer.toString(policy.partitions()));
    settings.put(
        REPLICAS, policy.replicas().isEmpty() ? "all" : String.join(",", policy.replicas()));
    return settings;
  }

  /**
   * Returns, in words, which of a keyspace's settings that differ from the defaults have no effect.
   */
  public static List<String> withoutEffect(KeyspacePolicy policy) {
    SortedMap<String, String> given = all(policy);
    all(KeyspacePolicy.session(policy.name(), Duration.ofSeconds(2)))
        .forEach((name, usual) -> given.remove(name, usual));
    return withoutEffect(all(policy), given.keySet());
  }

  /**
   * Returns, in words, which of these settings have no effect.
   *
   * @param all the keyspace's settings; missing ones have the configuration's defaults
   * @param given the names of those that were given
   */
  public static List<String> withoutEffect(Map<String, String> all, Set<String> given) {
    List<String> notes = new ArrayList<>();
    boolean isStale = !all.getOrDefault(STALE_READS, millis(Duration.ZERO)).equals("0ms");
    if (isStale
        && (given.contains(STALE_READS) || given.contains(REPLICAS))
        && all.getOrDefault(REPLICAS, "all").equals("all")
        && !all.containsKey(HOMES)) {
      notes.add(
          "stale-reads has no effect: all datacenters hold the keyspace, so each answers reads"
              + " itself");
    }
    if (given.contains(HISTORY) && all.getOrDefault(CONSISTENCY, "session").equals("session")) {
      notes.add("history has no effect: only the past of a causal keyspace can be read");
    }
    boolean shipsAtOnce = "0ms".equals(all.get(SLA));
    boolean isOp = "op".equals(all.get(PROPAGATION));
    if (given.contains(PAYLOAD) && (shipsAtOnce || isOp)) {
      notes.add(
          "payload has no effect: with %s every update is shipped at once"
              .formatted(isOp ? "propagation = op" : "sla = 0s"));
    }
    if (given.contains(PROPAGATION) && shipsAtOnce && !isOp) {
      notes.add("propagation has no effect: with sla = 0s every update is shipped at once");
    }
    return notes;
  }

  /** Returns the settings in one line, as an operator writes them. */
  public static String text(KeyspacePolicy policy) {
    return of(policy).entrySet().stream()
        .map(e -> e.getKey() + " = " + rounded(e.getValue()))
        .collect(Collectors.joining(", "));
  }

  /** Writes a duration in the largest unit of which it is a whole number. */
  private static String rounded(String value) {
    if (value.matches("[1-9]\\d*000ms")) {
      return value.replace("000ms", "s");
    }
    if (value.matches("[1-9]\\d*B")) {
      long bytes = Long.parseLong(value.substring(0, value.length() - 1));
      return bytes % (1 << 20) == 0
          ? (bytes >> 20) + "MiB"
          : bytes % (1 << 10) == 0 ? (bytes >> 10) + "KiB" : value;
    }
    return value;
  }

  private static SortedMap<String, String> alterable(KeyspacePolicy policy) {
    SortedMap<String, String> settings = new TreeMap<>();
    settings.put(SLA, millis(policy.sla()));
    settings.put(PROPAGATION, lower(policy.propagation()));
    settings.put(PAYLOAD, lower(policy.payload()));
    settings.put(HISTORY, millis(policy.history()));
    settings.put(STALE_READS, millis(policy.staleReads()));
    settings.put(LIMIT_KEY, policy.limits().keyBytesMax() + "B");
    settings.put(LIMIT_VALUE, policy.limits().valueBytesMax() + "B");
    settings.put(LIMIT_OBJECT, policy.limits().objectBytesMax() + "B");
    return settings;
  }

  private static Map<String, String> rules(PlacementRules rules) {
    return Map.of(
        PLACEMENT,
        lower(rules.placement()),
        HOLDERS_MIN,
        rules.holdersMin() == 0 ? "auto" : Integer.toString(rules.holdersMin()),
        ALLOW,
        String.join(",", rules.allow()),
        DENY,
        String.join(",", rules.deny()));
  }

  private static String millis(Duration duration) {
    return duration.toMillis() + "ms";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
