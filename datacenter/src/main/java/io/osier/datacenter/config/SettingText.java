package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes settings as an operator writes them in the file, for the log: without secrets. Pure. */
final class SettingText {
  private static final String ROOT = "osier";

  /** A text that needs no quotes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

  private final SortedMap<String, String> texts = new TreeMap<>();

  /** Returns the settings that differ from their defaults, in one line. */
  static String of(Config settings) {
    SettingText text = new SettingText();
    text.add("", settings.getObject(ROOT));
    return text.texts.entrySet().stream()
        .map(e -> e.getKey() + " = " + e.getValue())
        .collect(Collectors.joining(", "));
  }

  private void add(String path, ConfigValue value) {
    String whole = ROOT + (path.isEmpty() ? "" : ".") + path;
    boolean isThere = ConfigValues.REFERENCE.hasPath(whole);
    if (value instanceof ConfigObject object && !(object.isEmpty() && !isThere)) {
      for (Map.Entry<String, ConfigValue> e : object.entrySet()) {
        add((path.isEmpty() ? "" : path + ".") + ConfigUtil.joinPath(e.getKey()), e.getValue());
      }
    } else if (!isThere
        || !ConfigValues.REFERENCE.getValue(whole).unwrapped().equals(value.unwrapped())) {
      texts.put(path, shown(path, value));
    }
  }

  private static String shown(String path, ConfigValue value) {
    if (path.endsWith(".credential")) {
      return "(not shown)";
    }
    boolean isPlain =
        value.valueType() == ConfigValueType.STRING
            && PLAIN.matcher(String.valueOf(value.unwrapped())).matches();
    return isPlain
        ? String.valueOf(value.unwrapped())
        : value.render(ConfigRenderOptions.concise());
  }
}
