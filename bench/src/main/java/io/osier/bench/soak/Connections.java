package io.osier.bench.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Counts, by the datacenters' logs, how often each has connected to each other one. */
final class Connections {
  private static final Pattern CONNECTED = Pattern.compile("\\bconnected to ([a-z0-9]+)/\\d+");

  private Connections() {}

  /**
   * Returns a line for each link that was connected too often, or never. A link is connected at the
   * start. The links of the datacenter that was away are connected again after the cut, and perhaps
   * once more: a dial that hung in the cut may get through after a newer one and replace it.
   *
   * @param connections by link, such as "eu-us"
   * @param busy whether the machine was so busy that a datacenter that waits for a core is taken
   *     for dead; then further connections are no fault
   */
  static List<String> faults(Map<String, Integer> connections, String away, boolean busy) {
    List<String> faults = new ArrayList<>();
    connections.forEach(
        (link, made) -> {
          int most = List.of(link.split("-")).contains(away) ? 3 : 1;
          if (made < 1 || (made > most && !busy)) {
            faults.add(link + " connected " + made + " times, not between once and " + most);
          }
        });
    return faults;
  }

  /** Returns the number of connections by link, such as "eu-us". */
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
