package io.osier.datacenter.config;

import static io.osier.datacenter.config.KeyspaceReader.DEFAULTS;
import static io.osier.datacenter.config.KeyspaceReader.KEYSPACES;
import static io.osier.datacenter.config.UserReader.USERS;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Knows all settings: those of the reference file, by their keys and by their variables in the
 * environment. Refuses others, naming the setting that was most likely meant.
 */
final class SettingNames {
  static final String PEERS = "osier.peers";
  private static final Set<String> OF_A_USER = Set.of("password-file", "credential", "rights");

  private final Set<String> keys = leaves(ConfigValues.REFERENCE);

  /**
   * Checks the keys of a file.
   *
   * @param source what errors call it
   * @param wrong gets those that are not known, and values in the place of blocks
   * @return the file without them
   */
  Config check(String source, Config own, List<WrongSetting> wrong) {
    Config known = own;
    for (Map.Entry<String, ConfigValue> leaf : leafValues(own).entrySet()) {
      String key = leaf.getKey();
      ConfigValue value = leaf.getValue();
      Optional<String> problem = isBlock(key) ? noBlock(key, value) : unknown(key);
      if (problem.isPresent()) {
        String place = WrongSetting.place(source, value.origin());
        wrong.add(new WrongSetting(key, place, problem.get()));
        known = known.withoutPath(key);
      }
    }
    return known;
  }

  /** Whether settings are in it: a block of the reference, or a keyspace. */
  private static boolean isBlock(String key) {
    return key.startsWith(KEYSPACES + ".")
        ? ConfigUtil.splitPath(key).size() == 3
        : ConfigValues.REFERENCE.hasPath(key)
            && ConfigValues.REFERENCE.getValue(key).valueType() == ConfigValueType.OBJECT;
  }

  /**
   * What is wrong with a value that stands for a block; empty if it is one, or unknown yet. The
   * value is not shown, as it may be a password.
   */
  private static Optional<String> noBlock(String key, ConfigValue value) {
    try {
      return value.valueType() == ConfigValueType.OBJECT
          ? Optional.empty()
          : Optional.of(key + " must be a block of settings, { … }");
    } catch (ConfigException.NotResolved e) {
      return Optional.empty(); // ${NAME}, which may be a block
    }
  }

  /** What is said of a key that is not known; empty if it is. */
  private Optional<String> unknown(String key) {
    List<String> parts = ConfigUtil.splitPath(key);
    if (key.startsWith(USERS + ".") && parts.size() > 3) {
      return OF_A_USER.contains(parts.get(3))
          ? Optional.empty()
          : Optional.of(
              unknown(
                  key,
                  ClosestName.near(parts.get(3), OF_A_USER)
                      .map(k -> ConfigUtil.joinPath(parts.subList(0, 3)) + "." + k)));
    }
    Optional<String> as = canonical(key).filter(k -> !keys.contains(k));
    if (as.isEmpty() || !key.startsWith(KEYSPACES + ".")) {
      return as.map(k -> unknown(key, ClosestName.near(k, keys)));
    }
    Set<String> ofKeyspaces = new TreeSet<>(keys);
    ofKeyspaces.removeIf(k -> !k.startsWith(DEFAULTS + "."));
    return Optional.of(
        unknown(
            key,
            ClosestName.near(as.get(), ofKeyspaces)
                .map(
                    k ->
                        ConfigUtil.joinPath(parts.subList(0, 3))
                            + k.substring(DEFAULTS.length()))));
  }

  private static String unknown(String key, Optional<String> meant) {
    return "unknown key '"
        + key
        + "'"
        + meant
            .map(k -> "; did you mean '" + k + "'?")
            .orElse("; osier-reference.conf lists all settings");
  }

  /** See {@link EnvironmentSettings}. */
  Config of(Map<String, String> environment, Consumer<String> warnings) {
    return ConfigFactory.parseMap(
        new EnvironmentSettings(keys).settings(environment, warnings), WrongSetting.ENVIRONMENT);
  }

  /** Returns the reference's key for a key; empty where any name is allowed. */
  private static Optional<String> canonical(String key) {
    if (key.equals(PEERS)
        || key.startsWith(PEERS + ".")
        || key.startsWith(PortReader.REDIS_DATABASES)
        || key.equals(KEYSPACES)
        || key.equals(USERS)
        || key.startsWith(USERS + ".")) {
      return Optional.empty();
    }
    if (key.startsWith(KEYSPACES + ".")) {
      List<String> parts = ConfigUtil.splitPath(key);
      return parts.size() == 3
          ? Optional.empty() // an empty keyspace: all defaults
          : Optional.of(DEFAULTS + "." + String.join(".", parts.subList(3, parts.size())));
    }
    return Optional.of(key);
  }

  private static Set<String> leaves(Config config) {
    return leafValues(config).keySet();
  }

  private static SortedMap<String, ConfigValue> leafValues(Config config) {
    SortedMap<String, ConfigValue> leaves = new TreeMap<>();
    leaves("", config.root(), leaves);
    return leaves;
  }

  private static void leaves(
      String prefix, ConfigObject object, SortedMap<String, ConfigValue> into) {
    for (Map.Entry<String, ConfigValue> e : object.entrySet()) {
      String path = (prefix.isEmpty() ? "" : prefix + ".") + ConfigUtil.joinPath(e.getKey());
      if (e.getValue() instanceof ConfigObject o && !o.isEmpty()) {
        leaves(path, o, into);
      } else {
        into.put(path, e.getValue());
      }
    }
  }
}
