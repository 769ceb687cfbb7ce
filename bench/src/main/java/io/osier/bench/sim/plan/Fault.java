package io.osier.bench.sim.plan;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What may go wrong in a simulation. */
public enum Fault {
  /** Frames vanish inside a connection. */
  LOSS,
  /** Frames come twice. */
  DUPLICATES,
  /** Frames of one link overtake each other, and frames of a lost connection come after all. */
  REORDER,
  /** Links are cut, one way or both, or all of a datacenter's; noticed at once or late. */
  PARTITIONS,
  /** Datacenters crash, lose what their disks have not confirmed, and start again. */
  CRASHES,
  /** Datacenters handle their inputs late, or links take long or carry little. */
  SLOW,
  /**
   * Links carry nothing for a while and are not lost, peers do not read, or the threads of a
   * datacenter's links stand still.
   */
  HANGS,
  /** Disks are slow, or full. */
  DISKS,
  /** Disks stop for a while, and sometimes a crash ends that, in the middle of a write. */
  STALLS,
  /** Wall clocks jump and drift. */
  CLOCKS,
  /**
   * Answers to commits are lost, those who ask again are refused, or come before the first sending,
   * and half of the datacenters soon forget how transactions ended. Clients' connections are lost,
   * stand still, are cut in the middle of a frame, or carry nothing in one direction.
   */
  ANSWERS,
  /** Datacenters die, are given up, and join again with nothing. */
  MEMBERS,
  /** Values are large: objects grow up to their limit, and beyond it by joining. */
  LARGE;

  /**
   * The faults of a comma list.
   *
   * @throws IllegalArgumentException if a name is unknown
   */
  public static Set<Fault> parse(String list) {
    return switch (list) {
      case "all" -> EnumSet.allOf(Fault.class);
      case "none" -> EnumSet.noneOf(Fault.class);
      default -> {
        Set<Fault> some = EnumSet.noneOf(Fault.class);
        for (String name : list.split(",", -1)) {
          some.add(parseOne(name.trim()));
        }
        yield some;
      }
    };
  }

  private static Fault parseOne(String name) {
    for (Fault fault : values()) {
      if (fault.label().equals(name)) {
        return fault;
      }
    }
    throw new IllegalArgumentException("there is no fault '" + name + "'");
  }

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
