package io.osier.datacenter.config;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads the settings in the environment. Other programs set variables, too: a platform names its
 * services, a script its folders. So a variable that is no setting is ignored, with a warning if it
 * may have been meant as one. Immutable.
 */
final class EnvironmentSettings {
  private static final String OURS = "OSIER_";

  /** Variables of the launcher, the logging, docker-compose.yml and the tests. */
  private static final Pattern NOT_SETTINGS =
      Pattern.compile(
          OURS
              + "(JAVA_OPTIONS|JAVA_HOME|CACHE|LOG(_FORMAT)?|PASSWORD"
              + "|CONTAINERS|IMAGE|TRANSCRIPTS|LOAD_SECONDS|LOAD_TARGET)");

  /**
   * Variables by which Kubernetes announces a Service whose name begins with osier, and Docker a
   * linked container.
   */
  private static final Pattern OF_A_SERVICE =
      Pattern.compile(OURS + "(.*_)?(SERVICE_(HOST|PORT)(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

  /** The value of such a variable if its name may be a setting's: that of OSIER_ADMIN_PORT. */
  private static final Pattern LINK = Pattern.compile("(tcp|udp|sctp)://.*");

  private static final String PORT = "PORT";

  /**
   * If empty, this setting means that everything is in memory only; any other empty variable counts
   * as not set.
   */
  private static final String MAY_BE_EMPTY = "osier.store.dir";

  /** Keys by variable. */
  private final Map<String, String> variables = new TreeMap<>();

  EnvironmentSettings(Set<String> keys) {
    for (String key : keys) {
      variables.put(key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_'), key);
    }
  }

  /**
   * The settings among an environment's variables, by key.
   *
   * @param warnings is told of each variable that is ignored and may have been meant
   */
  Map<String, Object> settings(Map<String, String> environment, Consumer<String> warnings) {
    Map<String, Object> values = new TreeMap<>();
    Set<String> links =
        environment.entrySet().stream()
            .filter(e -> e.getKey().startsWith(OURS) && e.getKey().endsWith(PORT))
            .filter(e -> LINK.matcher(e.getValue().strip()).matches())
            .map(e -> e.getKey().substring(0, e.getKey().length() - PORT.length()))
            .collect(Collectors.toSet());
    new TreeMap<>(environment)
        .forEach(
            (variable, given) -> {
              String value = given.strip();
              String key = variables.get(variable);
              if (key == null) {
                warning(variable, value, links).ifPresent(warnings);
              } else if (LINK.matcher(value).matches()) {
                warnings.accept(
                    ("the environment: %s is ignored: '%s' is where a service or a linked"
                            + " container is; for the setting use %s in the file, or rename the"
                            + " Service")
                        .formatted(variable, value, key));
              } else if (!value.isEmpty() || key.equals(MAY_BE_EMPTY)) {
                values.put(key, value);
              }
            });
    return values;
  }

  /**
   * Returns the warning about a variable that is no setting. Its value may be a secret, and is not
   * shown.
   */
  private Optional<String> warning(String variable, String value, Set<String> links) {
    if (!variable.startsWith(OURS)
        || NOT_SETTINGS.matcher(variable).matches()
        || OF_A_SERVICE.matcher(variable).matches()
        || LINK.matcher(value).matches()
        || links.stream()
            .anyMatch(l -> variable.equals(l + "NAME") || variable.startsWith(l + "ENV_"))) {
      return Optional.empty();
    }
    return Optional.of(
        "the environment: "
            + variable
            + " is no setting, and is ignored"
            + ClosestName.near(variable, variables.keySet())
                .map(n -> "; did you mean " + n + "?")
                .orElse(""));
  }
}
