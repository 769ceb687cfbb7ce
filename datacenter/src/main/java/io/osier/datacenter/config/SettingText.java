package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Settings as an operator writes them in the file, for the log: without secrets. Pure. */
final class SettingText {
  private static final String PREFIX = "osier.";

  /** Needs no quotes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

  private SettingText() {}

  /** What is set otherwise than by default, in one line. */
  static String of(Config settings, Config reference) {
    Map<String, String> texts = new TreeMap<>();
    settings
        .entrySet()
        .forEach(
            entry -> {
              String path = entry.getKey();
              ConfigValue value = entry.getValue();
              boolean isDefault =
                  reference.hasPath(path)
                      && reference.getValue(path).unwrapped().equals(value.unwrapped());
              if (path.startsWith(PREFIX) && !isDefault) {
                texts.put(path.substring(PREFIX.length()), shown(path, value));
              }
            });
    return texts.entrySet().stream()
        .map(e -> e.getKey() + " = " + e.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String shown(String path, ConfigValue value) {
    if (path.endsWith(".credential")) {
      return "(not shown)";
    }
    if (value.valueType() == ConfigValueType.STRING) {
      String text = String.valueOf(value.unwrapped());
      if (PLAIN.matcher(text).matches()) {
        return text;
      }
    }
    return value.render(ConfigRenderOptions.concise());
  }
}
