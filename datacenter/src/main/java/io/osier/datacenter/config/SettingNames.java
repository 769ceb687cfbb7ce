package io.osier.datacenter.config;

import static io.osier.datacenter.config.KeyspaceReader.DEFAULTS;
import static io.osier.datacenter.config.KeyspaceReader.KEYSPACES;
import static io.osier.datacenter.config.UserReader.USERS;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
   * @param wrong gets those that are not known
   * @return the file without them
   */
  Config check(String source, Config own, List<WrongSetting> wrong) {
    Config known = own;
    for (String key : leaves(own)) {
      Optional<String> meant = meant(key);
      if (meant.isPresent()) {
        wrong.add(
            new WrongSetting(
                key,
                WrongSetting.place(source, own.getValue(key).origin()),
                "unknown key '" + key + "'; did you mean '" + meant.get() + "'?"));
        known = known.withoutPath(key);
      }
    }
    return known;
  }

  /** What was meant by a key that is not known; empty if it is. */
  private Optional<String> meant(String key) {
    List<String> parts = ConfigUtil.splitPath(key);
    if (key.startsWith(USERS + ".") && parts.size() > 3) {
      return OF_A_USER.contains(parts.get(3))
          ? Optional.empty()
          : Optional.of(
              ConfigUtil.joinPath(parts.subList(0, 3))
                  + "."
                  + ClosestName.of(parts.get(3), OF_A_USER));
    }
    Optional<String> as = canonical(key).filter(k -> !keys.contains(k));
    if (as.isEmpty() || !key.startsWith(KEYSPACES + ".")) {
      return as.map(k -> ClosestName.of(k, keys));
    }
    Set<String> ofKeyspaces = new TreeSet<>(keys);
    ofKeyspaces.removeIf(k -> !k.startsWith(DEFAULTS + "."));
    return Optional.of(
        ConfigUtil.joinPath(parts.subList(0, 3))
            + ClosestName.of(as.get(), ofKeyspaces).substring(DEFAULTS.length()));
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
    Set<String> leaves = new TreeSet<>();
    leaves("", config.root(), leaves);
    return leaves;
  }

  private static void leaves(String prefix, ConfigObject object, Set<String> into) {
    for (Map.Entry<String, ConfigValue> e : object.entrySet()) {
      String path = (prefix.isEmpty() ? "" : prefix + ".") + ConfigUtil.joinPath(e.getKey());
      if (e.getValue() instanceof ConfigObject o && !o.isEmpty()) {
        leaves(path, o, into);
      } else {
        into.add(path);
      }
    }
  }
}
