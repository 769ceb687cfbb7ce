package io.osier.bench.sim.plan;

import io.osier.adaptation.PlacementPolicy;
import io.osier.core.Homes;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.placement.PlacementSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** What the options and the seed decide about a run. Immutable. */
public final class RunProfile {
  /** One seed of so many has a datacenter out of reach for more than an hour. */
  private static final int LONG_ONE_IN = 90;

  private static final int LONG_SECONDS = 5_400;

  /** Runs with less load than this have no long outage. */
  private static final int LONG_SECONDS_MIN = 120;

  /** By which factor the clients of a long run are slower. */
  private static final int LONG_PACE = 12;

  /** One seed of so many with large values has some of more than a MiB. */
  private static final int HUGE_ONE_IN = 4;

  /** In one seed of three: a few frames, so that streams wait for acknowledgements all the time. */
  private static final int WINDOW_BYTES_TINY = 4 << 10;

  private static final int WINDOW_BYTES = 64 << 10;

  /** Room for large values at the rate at which clients write them. */
  private static final int WINDOW_BYTES_LARGE = 2 << 20;

  /** One keyspace of so many that some hold is held by one alone. */
  private static final int LONE_ONE_IN = 4;

  /** One seed of so many with holders may have datacenters that run a former program. */
  public static final int FORMER_ONE_IN = 8;

  /** What a millisecond of waiting is worth in bytes, of which one is drawn. */
  private static final double[] MS_WORTH = {0, 0.3, 1, 3};

  /** Of so many keyspaces that may follow their load one does not. */
  private static final int FIXED_ONE_IN = 4;

  private static final double HORIZON_SECONDS = 60;
  private static final long PLACEMENT_MILLIS = 1_000;

  /** One seed of so many with copies lets them answer when they may be old. */
  private static final int STALE_ONE_IN = 4;

  private static final Duration STALE_READS = Duration.ofSeconds(10);

  /** Of one seed of three, and of the keys that others follow of one of four: room for a few. */
  private static final int COPIES_BYTES_FEW = 5_000;

  private static final int COPIES_BYTES = 1 << 20;
  private static final int COPIES = 8;

  private final SimOptions options;
  private final long seed;
  private final List<Fault> faults;
  private final Set<Feature> features;
  private final boolean losesAnswers;

  /**
   * Draws the faults.
   *
   * @param random of which the run draws on
   */
  public RunProfile(SimOptions options, long seed, Random random) {
    this.options = options;
    this.seed = seed;
    List<Fault> drawnFaults = new ArrayList<>();
    for (Fault fault : Fault.values()) {
      if (fault == Fault.ANSWERS) {
        continue; // not for a time, but always
      }
      int draw = random.nextInt(3);
      boolean drawn = (isCostly(fault) ? draw == 0 : draw > 0) || options.faults().size() == 1;
      if (options.faults().contains(fault) && drawn) {
        drawnFaults.add(fault);
      }
    }
    // With chance of their own: the rest of the run is drawn alike whatever takes part.
    this.features = Feature.draw(options.features(), new Random(seed * 31 + options.dcs()));
    if (options.sabotage() != Sabotage.NONE) {
      features.remove(Feature.LATER_TYPES); // what notices a sabotage is what did before
      features.remove(Feature.PROGRAMS);
      features.remove(Feature.HOLDERS);
      features.remove(Feature.PLACEMENT);
      features.remove(Feature.COPIES);
    }
    features.addAll(options.sabotage().features());
    if (options.faults().equals(EnumSet.of(Fault.MEMBERS))) {
      features.remove(Feature.HOLDERS); // else that seed would have no fault
    }
    if (holders(1).isEmpty()) { // the other keyspace is causal, so nothing of it is copied
      features.remove(Feature.COPIES);
    }
    if (has(Feature.HOLDERS)) {
      drawnFaults.remove(Fault.MEMBERS); // holders are given up with their datacenters: not here
    }
    this.faults = List.copyOf(drawnFaults);
    this.losesAnswers = options.faults().contains(Fault.ANSWERS) && seed % 3 != 0;
  }

  /** Whether seeds with the fault take several times as long as others. */
  private static boolean isCostly(Fault fault) {
    return fault == Fault.LARGE || fault == Fault.MEMBERS;
  }

  public long seed() {
    return seed;
  }

  /** What takes part in this run. */
  public boolean has(Feature feature) {
    return features.contains(feature) && !options.paired();
  }

  /** All that takes part in this run. */
  public Set<Feature> features() {
    return features;
  }

  /** What may go wrong in this run. */
  public List<Fault> faults() {
    return faults;
  }

  /**
   * Which datacenters hold a keyspace at first; empty for all.
   *
   * @param number of the keyspace
   */
  public List<String> holders(int number) {
    // The other keyspace alone in one seed of three.
    if (!has(Feature.HOLDERS) || options.dcs() < 2 || seed / 3 % 3 == number) {
      return List.of();
    }
    Random random = new Random((2 * seed + number) * 0x9E3779B97F4A7C15L);
    int count = 1;
    if (options.dcs() > 2 && random.nextInt(LONE_ONE_IN) > 0) {
      count = 2 + random.nextInt(options.dcs() - 2);
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < options.dcs(); i++) {
      names.add("dc" + i);
    }
    Collections.shuffle(names, random);
    return names.subList(0, count);
  }

  /** Whether keyspaces that not all hold have laws, and the holders of some follow their load. */
  public boolean hasPlacement() {
    return has(Feature.HOLDERS) && has(Feature.PLACEMENT);
  }

  /** Whether a keyspace that not all hold has homes. */
  public boolean hasHomes() {
    return hasPlacement() && seed % 2 == 0 && seed % FORMER_ONE_IN != 0; // those know no homes
  }

  /** Whether a keyspace is one whose holders follow their load. */
  public boolean follows(Unit unit) {
    return hasPlacement()
        && !unit.policy().replicas().isEmpty()
        && (seed + Homes.base(unit.policy().name()).hashCode()) % FIXED_ONE_IN != 0;
  }

  /** The settings of placement: short periods, and moves that are worth it now and then. */
  public PlacementSettings placement() {
    Random random = new Random(seed * 43);
    double msWorth = MS_WORTH[random.nextInt(MS_WORTH.length)];
    return new PlacementSettings(
        new PlacementPolicy(msWorth, HORIZON_SECONDS), PLACEMENT_MILLIS * pace());
  }

  /** Whether disks are full, or nearly so, now and then, as far as placement is told. */
  public boolean fillsDisks() {
    return hasPlacement() && seed % 5 == 0;
  }

  /** What may be copied: at once what is read a few times, and so little that room is short. */
  public CopySettings copies() {
    return new CopySettings(seed % 3 == 0 ? COPIES_BYTES_FEW : COPIES_BYTES, COPIES, 10_000);
  }

  /** How old copies may be that answer while no holder can be reached; 0 for none. */
  public Duration staleReads() {
    return has(Feature.COPIES) && seed % STALE_ONE_IN == 0 ? STALE_READS : Duration.ZERO;
  }

  /** The budget of a holder for the keys that others follow, in bytes. */
  public long followersBytes() {
    return seed % 4 == 0 ? COPIES_BYTES_FEW / 2 : COPIES_BYTES;
  }

  /** For how long clients work, in virtual seconds. */
  public int seconds() {
    return isLong() ? LONG_SECONDS : options.seconds();
  }

  /** Whether a datacenter is away for hours while the others go on. */
  public boolean isLong() {
    return seed % LONG_ONE_IN == LONG_ONE_IN / 2
        && options.seconds() >= LONG_SECONDS_MIN
        && (faults.contains(Fault.PARTITIONS) || faults.contains(Fault.CRASHES));
  }

  /** How much slower the clients are than usual. */
  public int pace() {
    return isLong() ? LONG_PACE : 1;
  }

  /** How large values get. */
  public Workload.Sizes sizes() {
    if (!faults.contains(Fault.LARGE)) {
      return Workload.Sizes.SMALL;
    }
    return seed % HUGE_ONE_IN == 1 ? Workload.Sizes.HUGE : Workload.Sizes.LARGE;
  }

  /** What the streams to one peer may have under way. */
  public int windowBytes() {
    if (seed % 3 == 0 && !options.paired()) {
      return WINDOW_BYTES_TINY;
    }
    return sizes() == Workload.Sizes.SMALL ? WINDOW_BYTES : WINDOW_BYTES_LARGE;
  }

  /** Whether answers to commits are lost, and repeats refused. */
  public boolean losesAnswers() {
    return losesAnswers;
  }

  /** Whether a datacenter forgets how transactions ended while their clients still ask. */
  public boolean forgetsEnds(String dc) {
    return losesAnswers && (dc.hashCode() + seed) % 2 == 0;
  }

  /** How many ended transactions a datacenter remembers. */
  public int endedTransactions(String dc) {
    return forgetsEnds(dc) ? 1 : 100_000;
  }
}
