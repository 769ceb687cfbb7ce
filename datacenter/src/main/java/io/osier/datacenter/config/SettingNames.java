package io.osier.datacenter.config;

import static io.osier.datacenter.config.ConfigReader.PEERS;
import static io.osier.datacenter.config.KeyspaceReader.DEFAULTS;
import static io.osier.datacenter.config.KeyspaceReader.KEYSPACES;
import static io.osier.datacenter.config.UserReader.USERS;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The settings that there are: those of the reference, by their keys and by their variables in the
 * environment. What a file has and is not one of them is refused, with the one that was most likely
 * meant.
 */
final class SettingNames {
  /** The settings of a user. */
  private static final Set<String> OF_A_USER = Set.of("password-file", "credential", "rights");

  private final Set<String> keys;

  /** The settings of a reference. */
  SettingNames(Config reference) {
    this.keys = leaves(reference);
  }

  /**
   * Checks the keys of a file.
   *
   * @param source what errors call it
   * @throws OsierException CONFIGURATION if one is not known
   */
  void check(String source, Config own) {
    checkUsers(source, own);
    for (String key : leaves(own)) {
      Optional<String> as = canonical(key).filter(k -> !keys.contains(k));
      if (as.isPresent()) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            source
                + ": unknown key '"
                + key
                + "'; did you mean '"
                + ClosestName.of(as.get(), keys)
                + "'?");
      }
    }
  }

  private static void checkUsers(String source, Config own) {
    if (!own.hasPath(USERS) || own.getValue(USERS).valueType() != ConfigValueType.OBJECT) {
      return;
    }
    own.getObject(USERS)
        .forEach(
            (name, user) -> {
              if (user instanceof ConfigObject settings) {
                settings.keySet().forEach(setting -> checkOfAUser(source, name, setting));
              }
            });
  }

  private static void checkOfAUser(String source, String name, String setting) {
    if (!OF_A_USER.contains(setting)) {
      String at = USERS + "." + name + ".";
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          source
              + ": unknown key '"
              + at
              + setting
              + "'; did you mean '"
              + at
              + ClosestName.of(setting, OF_A_USER)
              + "'?");
    }
  }

  /** See {@link EnvironmentSettings}. */
  Config of(Map<String, String> environment, Consumer<String> warnings) {
    return ConfigFactory.parseMap(
        new EnvironmentSettings(keys).settings(environment, warnings), "the environment");
  }

  /** The reference's key for a key; empty where any name is allowed. */
  private static Optional<String> canonical(String key) {
    if (key.equals(PEERS)
        || key.startsWith(PEERS + ".")
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
