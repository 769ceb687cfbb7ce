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
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The settings that there are: those of the reference, by their keys and by their variables in the
 * environment. What is not one of them is refused, with the one that was most likely meant.
 */
final class KnownKeys {
  /**
   * Variables of the launcher, the logging, docker-compose.yml and the tests, and those with which
   * container platforms tell where a service of the name "osier" is.
   */
  private static final Pattern NOT_SETTINGS =
      Pattern.compile(
          "OSIER_(JAVA_OPTIONS|JAVA_HOME|CACHE|LOG(_FORMAT)?|PASSWORD"
              + "|CONTAINERS|IMAGE|TRANSCRIPTS|LOAD_SECONDS|LOAD_TARGET"
              + "|(.*_)?SERVICE_(HOST|PORT)(_.*)?|(.*_)?PORT_\\d+_.*)");

  /** The settings of a user. */
  private static final Set<String> OF_A_USER = Set.of("password-file", "credential", "rights");

  private static final Pattern LINK = Pattern.compile("(tcp|udp)://.*");

  private final Set<String> keys;

  /** Keys by variable. */
  private final Map<String, String> variables = new TreeMap<>();

  /** The settings of a reference. */
  KnownKeys(Config reference) {
    this.keys = leaves(reference);
    for (String key : keys) {
      variables.put(key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_'), key);
    }
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
                + nearest(as.get(), keys)
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
              + nearest(setting, new TreeSet<>(OF_A_USER))
              + "'?");
    }
  }

  /**
   * What the environment sets.
   *
   * @throws OsierException CONFIGURATION if a variable looks like a setting and is none
   */
  Config of(Map<String, String> environment) {
    Map<String, Object> values = new TreeMap<>();
    new TreeMap<>(environment)
        .forEach(
            (variable, value) -> {
              String key = variables.get(variable);
              if (key != null) {
                values.put(key, value);
              } else if (variable.startsWith("OSIER_")
                  && !NOT_SETTINGS.matcher(variable).matches()
                  && !LINK.matcher(value).matches()) {
                throw new OsierException(
                    ErrorCode.CONFIGURATION,
                    "the environment: unknown variable "
                        + variable
                        + "; did you mean "
                        + nearest(variable, variables.keySet())
                        + "?");
              }
            });
    return ConfigFactory.parseMap(values, "the environment");
  }

  private static String nearest(String to, Set<String> known) {
    return known.stream()
        .min((a, b) -> Integer.compare(distance(a, to), distance(b, to)))
        .orElse("");
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
      String path = (prefix.isEmpty() ? "" : prefix + ".") + ConfigUtil.quoteString(e.getKey());
      if (ConfigUtil.quoteString(e.getKey()).equals("\"" + e.getKey() + "\"")) {
        path = (prefix.isEmpty() ? "" : prefix + ".") + e.getKey();
      }
      if (e.getValue() instanceof ConfigObject o && !o.isEmpty()) {
        leaves(path, o, into);
      } else {
        into.add(path);
      }
    }
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substitute = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substitute, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
