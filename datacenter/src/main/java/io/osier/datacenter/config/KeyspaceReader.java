package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValueFactory;
import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.PlacementRules;
import io.osier.core.codec.Codec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Reads the keyspaces of a configuration. Immutable. */
final class KeyspaceReader {
  static final String KEYSPACES = "osier.keyspaces";
  static final String DEFAULTS = "osier.keyspace-defaults";

  /** What {@link KeyspaceSettings#HOMES} may be where it is given. */
  static final String HOMES =
      "1 to " + Homes.MAX + " names of homes, with the letters of datacenters' names";

  private final ConfigValues values;

  KeyspaceReader(ConfigValues values) {
    this.values = values;
  }

  /**
   * All that it names, in the order of their names; behind one with homes those of its homes.
   *
   * @param peers the other datacenters
   */
  List<KeyspacePolicy> keyspaces(String dc, Set<String> peers) {
    if (!values.list(DEFAULTS + ".homes", "left out").isEmpty()) {
      throw values.bad(DEFAULTS + ".homes", "left out: a keyspace names its homes itself");
    }
    Set<String> datacenters = new TreeSet<>(peers);
    datacenters.add(dc);
    List<KeyspacePolicy> keyspaces = new ArrayList<>();
    ConfigObject all = values.config().getObject(KEYSPACES);
    for (String name : new TreeSet<>(all.keySet())) {
      String prefix = prefix(name);
      if (!(all.get(name) instanceof ConfigObject)) {
        throw values.bad(prefix, "a block of settings, for example { sla = 2s }");
      }
      if (Homes.isHome(name)) {
        continue; // is read with its keyspace
      }
      KeyspacePolicy policy = withDefaults(prefix).keyspace(name, prefix, datacenters);
      keyspaces.add(checked(prefix, KeyspaceSettings.paired(policy), datacenters));
      for (String home : policy.partitioning().homes().names()) {
        keyspaces.add(home(policy.home(home), datacenters));
      }
    }
    checkHomes(all.keySet(), keyspaces);
    return keyspaces;
  }

  private static String prefix(String keyspace) {
    boolean plain = keyspace.matches("[A-Za-z][A-Za-z0-9_-]*");
    return KEYSPACES + "." + (plain ? keyspace : ConfigUtil.quoteString(keyspace));
  }

  private KeyspacePolicy checked(String prefix, KeyspacePolicy policy, Set<String> datacenters) {
    Optional<String> wrong =
        policy
            .rules()
            .objection(PlacementRules.NONE, policy.replicas(), policy.replicas(), datacenters);
    if (wrong.isPresent()) {
      throw values.bad(prefix, "laws that its replicas keep: " + wrong.get());
    }
    return policy;
  }

  /**
   * A home with what its own block says of it.
   *
   * @param as its keyspace's policy, under its name
   */
  private KeyspacePolicy home(KeyspacePolicy as, Set<String> datacenters) {
    String prefix = prefix(as.name());
    String base = prefix(Homes.base(as.name()));
    Config config = values.config();
    Config own = config.hasPath(prefix) ? config.getConfig(prefix) : ConfigFactory.empty();
    for (String setting : own.root().keySet()) {
      if (!setting.equals(KeyspaceSettings.REPLICAS) && !KeyspaceSettings.RULES.contains(setting)) {
        String key = prefix + "." + setting;
        throw values.error(
            key,
            "%s is of all homes at once, and stands at %s; of a home only %s and %s can be set"
                .formatted(key, base, KeyspaceSettings.REPLICAS, KeyspaceSettings.RULES));
      }
    }
    Config all =
        config.withValue(
            prefix,
            own.root()
                .withFallback(config.getObject(base))
                .withFallback(config.getObject(DEFAULTS)));
    KeyspaceReader reader = new KeyspaceReader(values.with(all));
    List<String> replicas = reader.replicas(prefix, datacenters);
    if (replicas.isEmpty() && !as.replicas().isEmpty()) {
      throw values.bad(prefix + ".replicas", "a list of datacenters, as " + base + " names some");
    }
    KeyspacePolicy policy = as.withReplicas(replicas).with(reader.rules(prefix));
    return checked(
        config.hasPath(prefix) ? prefix : base, KeyspaceSettings.paired(policy), datacenters);
  }

  /** Throws if a block is of a home that there is not. */
  private void checkHomes(Set<String> blocks, List<KeyspacePolicy> keyspaces) {
    Set<String> homes = new TreeSet<>();
    keyspaces.stream().map(KeyspacePolicy::name).filter(Homes::isHome).forEach(homes::add);
    for (String name : new TreeSet<>(blocks)) {
      if (Homes.isHome(name) && !homes.contains(name)) {
        String prefix = prefix(name);
        throw values.error(
            prefix,
            "%s: keyspace '%s' has no such home%s"
                .formatted(
                    prefix,
                    Homes.base(name),
                    ClosestName.near(name, homes)
                        .map(n -> "; did you mean '" + n + "'?")
                        .orElse("; the setting homes of the keyspace names them")));
      }
    }
  }

  /** A view in which a keyspace has all settings. */
  private KeyspaceReader withDefaults(String prefix) {
    Config config = values.config();
    Config withDefaults =
        config.withValue(prefix, config.getObject(prefix).withFallback(config.getObject(DEFAULTS)));
    String partitions = prefix + ".partitions";
    if (!values.has(partitions)
        && withDefaults.getString(prefix + ".consistency").equalsIgnoreCase("causal")) {
      // The default is for session keyspaces; a causal one has one sequencer.
      withDefaults = withDefaults.withValue(partitions, ConfigValueFactory.fromAnyRef(1));
    }
    return new KeyspaceReader(values.with(withDefaults));
  }

  /**
   * Reads one keyspace that no configuration file names.
   *
   * @param source what errors call it
   * @param prefix where its settings are in {@code own}
   * @param datacenters all that there are
   */
  static KeyspacePolicy read(
      String source, Config own, String name, String prefix, Set<String> datacenters) {
    Config all = own.withFallback(ConfigValues.REFERENCE.withOnlyPath(DEFAULTS)).resolve();
    try {
      return new KeyspaceReader(new ConfigValues(source, all))
          .withDefaults(prefix)
          .keyspace(name, prefix, datacenters);
    } catch (WrongSetting e) {
      throw new OsierException(ErrorCode.CONFIGURATION, source + ": " + e.getMessage());
    }
  }

  private KeyspacePolicy keyspace(String name, String prefix, Set<String> datacenters) {
    KeyspacePolicy.Consistency consistency =
        values.choice(prefix + ".consistency", KeyspacePolicy.Consistency.class);
    List<String> replicas = replicas(prefix, datacenters);
    String homes = prefix + ".homes";
    Homes all =
        values.value(homes, HOMES, () -> new Homes(values.names(homes, "a list of homes' names")));
    if (consistency == KeyspacePolicy.Consistency.CAUSAL && !all.isEmpty()) {
      throw values.bad(homes, "left out of a causal keyspace, which has one partition");
    }
    String limits = prefix + ".limits";
    // What all of them do to an object before they hear of each other must fit in a record.
    int holders = Math.max(1, replicas.isEmpty() ? datacenters.size() : replicas.size());
    int objectBytesMax =
        Math.min(KeyspacePolicy.Limits.OBJECT_BYTES_CAP, Codec.OBJECT_BYTES_MAX / holders);
    try {
      return new KeyspacePolicy(
          KeyspacePolicy.checkName(name), // the control plane's is nobody's to set
          consistency,
          values.duration(prefix + ".sla", Duration.ZERO, KeyspacePolicy.SLA_MAX),
          values.choice(prefix + ".propagation", KeyspacePolicy.Propagation.class),
          values.choice(prefix + ".payload", KeyspacePolicy.StatePayload.class),
          replicas,
          new Partitioning(
              values.integer(prefix + ".partitions", 1, KeyspacePolicy.PARTITIONS_MAX),
              values.choice(prefix + ".hash", Partitioning.Hash.class),
              all),
          new KeyspacePolicy.Limits(
              values.bytes(limits + ".key", 1, io.osier.core.Key.LENGTH_MAX),
              values.bytes(limits + ".value", 1, KeyspacePolicy.Limits.VALUE_BYTES_CAP),
              values.bytes(limits + ".object", 1, objectBytesMax)),
          new KeyspacePolicy.PastReads(
              values.duration(prefix + ".history", Duration.ZERO, KeyspacePolicy.HISTORY_MAX),
              values.duration(
                  prefix + ".stale-reads", Duration.ZERO, KeyspacePolicy.PastReads.STALE_MAX)),
          rules(prefix));
    } catch (ConfigException | IllegalArgumentException e) {
      // its words say what is wrong, and what would be right
      throw values.error(prefix, prefix + ": " + e.getMessage());
    }
  }

  private List<String> replicas(String prefix, Set<String> datacenters) {
    List<String> replicas = values.names(prefix + ".replicas", "a list of datacenters' names");
    for (String replica : replicas) {
      if (!datacenters.contains(replica)) {
        throw values.bad(
            prefix + ".replicas", "a list of datacenters, of which there are " + datacenters);
      }
    }
    return replicas;
  }

  private PlacementRules rules(String prefix) {
    String min = prefix + ".holders-min";
    String names = "a list of datacenters' names";
    return new PlacementRules(
        values.choice(prefix + ".placement", PlacementRules.Placement.class),
        values.isAuto(min) ? 0 : values.integer(min, 1, KeyspaceSettings.HOLDERS_MAX),
        values.names(prefix + ".allow", names),
        values.names(prefix + ".deny", names));
  }
}
