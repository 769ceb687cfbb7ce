package io.osier.datacenter.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValueFactory;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.List;

/**
 * A wrong setting. The reader of a configuration catches it, so that all wrong settings are
 * reported at once.
 */
final class WrongSetting extends RuntimeException {
  /** The place of settings that come from variables. */
  static final String ENVIRONMENT = "the environment";

  /** The value that replaces a wrong setting without a default. */
  private static final String NAME = "osier.dc";

  private static final long serialVersionUID = 1;

  private final String key;
  private final String place;

  /**
   * @param place where the setting is; empty if nowhere
   */
  WrongSetting(String key, String place, String message) {
    super(message);
    this.key = key;
    this.place = place;
  }

  /**
   * Returns the place of a setting: a line, another file's line, the environment; empty for
   * nowhere.
   */
  static String place(String source, ConfigOrigin origin) {
    if (origin.description().startsWith(ENVIRONMENT)) {
      return ENVIRONMENT;
    }
    if (origin.lineNumber() < 0 || origin.resource() != null) {
      return ""; // a value of the reference
    }
    String file = origin.filename();
    return (file == null || file.endsWith(source.substring(1 + source.lastIndexOf('/')))
            ? ""
            : file + " ")
        + "line "
        + origin.lineNumber();
  }

  /**
   * Returns the same configuration with the setting's default, so that the other settings can be
   * read, too. Where the setting has its default, its block gets the defaults.
   */
  Config mended(Config config) {
    if (key.isEmpty()) {
      return config;
    }
    if (key.equals(NAME)) {
      return config.withValue(key, ConfigValueFactory.fromAnyRef("dc"));
    }
    Config mended = withDefault(config, key);
    if (mended.equals(config)) { // the default is what is wrong, beside the rest of its block
      List<String> parts = ConfigUtil.splitPath(key);
      return withDefault(config, ConfigUtil.joinPath(parts.subList(0, parts.size() - 1)));
    }
    return mended;
  }

  private static Config withDefault(Config config, String key) {
    return ConfigValues.REFERENCE.hasPathOrNull(key)
        ? config.withValue(key, ConfigValues.REFERENCE.getValue(key))
        : config.withoutPath(key);
  }

  private String text() {
    return place.isEmpty() ? String.valueOf(getMessage()) : place + ": " + getMessage();
  }

  /** Returns the error that reports all wrong settings. */
  static OsierException all(String source, List<WrongSetting> wrong) {
    if (wrong.size() == 1) {
      WrongSetting only = wrong.getFirst();
      return new OsierException(
          ErrorCode.CONFIGURATION, source + (only.place.isEmpty() ? ": " : ", ") + only.text());
    }
    StringBuilder text = new StringBuilder(source + " has " + wrong.size() + " mistakes:");
    wrong.forEach(w -> text.append("\n  ").append(w.text()));
    return new OsierException(ErrorCode.CONFIGURATION, text.toString());
  }
}
