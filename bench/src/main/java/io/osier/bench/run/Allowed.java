package io.osier.bench.run;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.osier.bench.cluster.Durability;
import io.osier.bench.cluster.Topology;
import io.osier.bench.systems.ScenarioException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Which keys there are, and what may be their values: of the types of their defaults. */
final class Allowed {
  private static final double DAY_SECONDS = 86_400;

  private static final Map<String, Range> NUMBERS =
      Map.ofEntries(
          Map.entry("rounds", Range.whole(1, 1_000)),
          Map.entry("warm-up", Range.any(0, DAY_SECONDS)),
          Map.entry("lead", Range.any(0, DAY_SECONDS)),
          Map.entry("seconds", Range.any(0, DAY_SECONDS)),
          Map.entry("settle", Range.any(0, DAY_SECONDS)),
          Map.entry("cluster.dcs", Range.whole(1, Topology.DCS_MAX)),
          Map.entry("cluster.delay", Range.any(-1, 60_000)),
          Map.entry("load.keys", Range.whole(1, 20_000_000)),
          Map.entry("load.in-flight", Range.whole(1, 1_000_000)),
          Map.entry("load.threads", Range.whole(0, 1_000)),
          Map.entry("load.rate", Range.whole(0, 10_000_000)),
          Map.entry("load.sessions", Range.whole(1, 10_000)),
          Map.entry("load.elements", Range.whole(1, 20_000_000)),
          Map.entry("load.bytes", Range.whole(0, 64 << 20)),
          Map.entry("load.objects", Range.whole(1, 100_000)),
          Map.entry("load.watchers", Range.whole(-1, 100_000)),
          Map.entry("load.hot", Range.whole(0, 100_000)),
          Map.entry("readers.every-ms", Range.whole(0, 3_600_000)),
          Map.entry("step.by", Range.whole(0, 20_000_000)),
          Map.entry("step.seconds", Range.any(0, DAY_SECONDS)));

  private static final Map<String, List<String>> WORDS =
      Map.of(
          "cluster.durability",
          Arrays.stream(Durability.values()).map(d -> d.name().toLowerCase(Locale.ROOT)).toList(),
          "cluster.tls",
          List.of("off", "server", "both"),
          "load.draw",
          List.of("zipfian", "uniform", "turns"));

  /** Their content is passed on, or checked elsewhere. */
  private static final Set<String> FREE =
      Set.of("cluster.keyspaces", "cluster.settings", "load.mix", "loads", "quick");

  private Allowed() {}

  /** Of a number. */
  private record Range(double least, double most, boolean isWhole) {
    static Range whole(double least, double most) {
      return new Range(least, most, true);
    }

    static Range any(double least, double most) {
      return new Range(least, most, false);
    }

    boolean has(double value) {
      return value >= least && value <= most && (!isWhole || value == Math.rint(value));
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT, "a%s number from %,.0f to %,.0f", isWhole ? " whole" : "", least, most);
    }
  }

  /**
   * Checks all that is given.
   *
   * @param path of the block; empty for a scenario's own keys
   * @param known each key with a value of the type that it must have
   * @throws ScenarioException that names the key and what would be right
   */
  static void check(String path, ConfigObject given, ConfigObject known) {
    given.forEach(
        (key, value) -> {
          String at = path.isEmpty() ? key : path + "." + key;
          ConfigValue like = known.get(key);
          if (like == null) {
            throw new ScenarioException(
                "unknown key "
                    + at
                    + "; known here: "
                    + String.join(", ", new TreeSet<>(known.keySet())));
          }
          check(at, value, like);
        });
  }

  private static void check(String at, ConfigValue value, ConfigValue like) {
    ConfigValueType type = value.valueType();
    boolean isBlock = type == ConfigValueType.OBJECT || type == ConfigValueType.LIST;
    String text = String.valueOf(value.unwrapped());
    switch (like.valueType()) {
      case OBJECT -> {
        require(type == ConfigValueType.OBJECT, at, "a block { ... }", value);
        if (!FREE.contains(at)) {
          check(at, (ConfigObject) value, (ConfigObject) like);
        }
      }
      case LIST -> require(type == ConfigValueType.LIST, at, "a list [ ... ]", value);
      case NUMBER -> {
        Range range = NUMBERS.getOrDefault(at, Range.any(-Double.MAX_VALUE, Double.MAX_VALUE));
        require(
            !isBlock && isNumber(text) && range.has(Double.parseDouble(text)), at, range, value);
      }
      case BOOLEAN ->
          require(
              List.of("true", "false", "yes", "no", "on", "off").contains(text),
              at,
              "true or false",
              value);
      default -> {
        List<String> words = WORDS.getOrDefault(at, List.of());
        String wanted = words.isEmpty() ? "a word or text" : "one of " + String.join(", ", words);
        boolean isListToo = at.equals("load.at") && type == ConfigValueType.LIST;
        require(
            isListToo || (!isBlock && (words.isEmpty() || words.contains(text))),
            at,
            wanted,
            value);
      }
    }
  }

  private static boolean isNumber(String text) {
    try {
      return Double.isFinite(Double.parseDouble(text));
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static void require(boolean isRight, String at, Object wanted, ConfigValue value) {
    if (!isRight) {
      throw new ScenarioException(
          at + " must be " + wanted + ", not " + value.render(ConfigRenderOptions.concise()));
    }
  }
}
