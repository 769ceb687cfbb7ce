package io.osier.bench.fleet;

import io.osier.bench.cluster.Topology;
import io.osier.bench.wan.WanQuality;
import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A link as people write it: {@code eu-us=7501:us:7401} is the way on which eu reaches us, and
 * {@code eu-us=7501:us:7401/40} has a delay of 40 ms.
 *
 * @param name FROM-TO, two datacenters
 * @param port where it listens
 * @param target where it leads; looked up for each connection
 */
record LinkSpec(String name, int port, InetSocketAddress target, WanQuality quality) {
  private static final Pattern FORM =
      Pattern.compile(
          "([A-Za-z]\\w*)-([A-Za-z]\\w*)=(\\d{1,5}):([^:/\\[\\]]+|\\[[^/\\]]+\\]):(\\d{1,5})(?:/(\\d{1,6}(?:\\.\\d+)?))?");

  /**
   * Reads a link.
   *
   * @throws IllegalArgumentException if it is none, or its delay is left out and unknown
   */
  static LinkSpec parse(String text) {
    Matcher m = FORM.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "a link is FROM-TO=PORT:HOST:PORT with /MILLISECONDS of delay behind it, or without, not:"
              + " "
              + text);
    }
    String from = m.group(1);
    String to = m.group(2);
    double delay = m.group(6) == null ? known(text, from, to) : Double.parseDouble(m.group(6));
    return new LinkSpec(
        from + "-" + to,
        port(text, m.group(3)),
        InetSocketAddress.createUnresolved(m.group(4), port(text, m.group(5))),
        new WanQuality(delay, Topology.JITTER_MILLIS, 0));
  }

  private static int port(String text, String digits) {
    int port = Integer.parseInt(digits);
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("a port is 1 to 65535, not " + port + ": " + text);
    }
    return port;
  }

  private static double known(String text, String from, String to) {
    try {
      return Topology.delayMillis(from, to);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "the delay between "
              + from
              + " and "
              + to
              + " is not known: write it behind the link, as /40: "
              + text,
          e);
    }
  }
}
