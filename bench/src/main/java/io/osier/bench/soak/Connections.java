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

/** How often each datacenter has connected to each other one, as their logs tell. */
final class Connections {
  private static final Pattern CONNECTED = Pattern.compile("\\bconnected to ([a-z0-9]+)/\\d+");

  private Connections() {}

  /**
   * What was connected too often, or never. At the start once; with the datacenter that was away
   * after the cut as well, and once more where a dial that hung in the cut comes through after a
   * newer one, and takes its place.
   *
   * @param busy whether others kept the machine so busy that a datacenter that waits for a core is
   *     taken for dead: then it is no fault to connect again
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
