package io.osier.bench.cluster;

import io.osier.bench.wan.WanQuality;
import java.util.List;
import java.util.Map;

/** The names of clusters' datacenters, and the delays between them. */
public final class Topology {
  /** The datacenters of a cluster of the usual size. */
  public static final List<String> DCS = List.of("eu", "us", "ap");

  /**
   * All names in the order in which clusters grow: the regions first, then a second one in each.
   */
  private static final List<String> NAMES =
      List.of("eu", "us", "ap", "au", "sa", "eu2", "us2", "ap2", "au2", "sa2");

  public static final int DCS_MAX = 10;

  /** Added to the delay of every link, evenly from 0 to this, in milliseconds. */
  public static final double JITTER_MILLIS = 3;

  /** The delay between two datacenters of one region, one way. */
  private static final double REGION_MILLIS = 1;

  /** The delays between regions, one way, in milliseconds. */
  private static final Map<String, Double> DELAYS =
      Map.of(
          "eu-us", 40.0, "us-ap", 60.0, "eu-ap", 20.0, "eu-au", 120.0, "us-au", 90.0, "ap-au", 55.0,
          "eu-sa", 95.0, "us-sa", 60.0, "ap-sa", 130.0, "au-sa", 150.0);

  private Topology() {}

  /**
   * Returns the names of a cluster's datacenters.
   *
   * @param count how many, 1 to {@link #DCS_MAX}
   */
  public static List<String> names(int count) {
    return NAMES.subList(0, count);
  }

  /** Returns the delay from one datacenter to another, one way, without jitter. */
  public static double delayMillis(String from, String to) {
    String one = region(from);
    String two = region(to);
    if (one.equals(two)) {
      return REGION_MILLIS;
    }
    Double delay = DELAYS.get(one + "-" + two);
    if (delay == null) {
      delay = DELAYS.get(two + "-" + one);
    }
    if (delay == null) {
      throw new IllegalArgumentException(
          "the delay from "
              + from
              + " to "
              + to
              + " is not known: write it behind the link, as /40");
    }
    return delay;
  }

  /** Returns the usual quality of the link between two datacenters. */
  static WanQuality quality(String from, String to) {
    return new WanQuality(delayMillis(from, to), JITTER_MILLIS, 0);
  }

  private static String region(String dc) {
    return dc.length() > 2 ? dc.substring(0, 2) : dc;
  }
}
