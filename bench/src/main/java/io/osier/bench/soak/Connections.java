package io.osier.bench.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** How often each datacenter has connected to each other one, as their logs tell. */
final class Connections {
  private static final Pattern CONNECTED = Pattern.compile("\\bconnected to ([a-z0-9]+)/\\d+");

  private Connections() {}

  /** By direction ("eu-us"); 0 where a log has none. */
  static Map<String, Integer> of(Path directory, List<String> dcs) throws IOException {
    Map<String, Integer> made = new TreeMap<>();
    for (String from : dcs) {
      for (String to : dcs) {
        if (!from.equals(to)) {
          made.put(from + "-" + to, 0);
        }
      }
      try (Stream<String> lines = Files.lines(directory.resolve(from + ".log"))) {
        lines.forEach(
            line -> {
              Matcher m = CONNECTED.matcher(line);
              if (m.find()) {
                made.merge(from + "-" + m.group(1), 1, Integer::sum);
              }
            });
      }
    }
    return made;
  }
}
