package io.osier.bench.sim.plan;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What takes part in a run beside datacenters, sessions and faults. Each seed draws some of them
 * (swarm testing): so a seed is cheap, and every combination of them meets in some seeds.
 */
public enum Feature {
  /** Somebody watches each partition. */
  WATCHERS(3),
  /** Keys, fields and elements expire. */
  EXPIRY(4),
  /** Sets and maps of a few entries are stored and shipped in pieces. */
  DECOMPOSITION(3),
  /** Caches are so small that objects are read from the disk all the time. */
  COLD_READS(3),
  /** Datacenters that keep nothing are embedded in applications. */
  EMBEDDED(2),
  /** Modes are chosen more often, or less often, than in production. */
  HASTE(4),
  /** There are objects and fields of types that former versions do not know. */
  LATER_TYPES(3),
  /** Several keys are changed together by programs, some of which have guards. */
  PROGRAMS(3),
  /** Some datacenters hold a keyspace, and the others forward what concerns it. */
  HOLDERS(4),
  /** With {@link #HOLDERS}: keyspaces have laws, and the holders of some follow their load. */
  PLACEMENT(2),
  /** Those others have copies of what they read often; only where some hold a keyspace. */
  COPIES(2);

  /** One seed of so many has it. */
  private final int oneIn;

  Feature(int oneIn) {
    this.oneIn = oneIn;
  }

  /** The features of a seed: of those that are given all, or some if none is given. */
  static Set<Feature> draw(Set<Feature> given, Random random) {
    Set<Feature> drawn = EnumSet.noneOf(Feature.class);
    for (Feature feature : values()) {
      boolean isDrawn = random.nextInt(feature.oneIn) == 0;
      if (given.isEmpty() ? isDrawn : given.contains(feature)) {
        drawn.add(feature);
      }
    }
    return drawn;
  }

  /**
   * The features of a comma list; none for {@code drawn}.
   *
   * @throws IllegalArgumentException if a name is unknown
   */
  public static Set<Feature> parse(String list) {
    Set<Feature> features = EnumSet.noneOf(Feature.class);
    if (!list.equals("drawn")) {
      for (String name : list.split(",", -1)) {
        features.add(
            Arrays.stream(values())
                .filter(feature -> feature.label().equals(name.trim()))
                .findFirst()
                .orElseThrow(
                    () ->
                        new IllegalArgumentException("there is no feature '" + name.trim() + "'")));
      }
    }
    return features;
  }

  /** All names, in a comma list. */
  public static String labels() {
    return Arrays.stream(values()).map(Feature::label).collect(Collectors.joining(","));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
