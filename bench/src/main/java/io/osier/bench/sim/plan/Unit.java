package io.osier.bench.sim.plan;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * One partition of one keyspace, at every datacenter.
 *
 * @param number its place among all of the simulation
 * @param policy the keyspace's
 * @param partition its number in the keyspace
 * @param adaptation decides soon, so that modes switch all the time
 */
public record Unit(
    int number, KeyspacePolicy policy, int partition, AdaptationSettings adaptation) {
  /** Small frames, so that catching up and healing take many. */
  public static final int FRAME_BYTES = 2 << 10;

  private static final int KEYSPACES = 2;

  /** Besides the default one. */
  private static final List<String> HOME = List.of("h");

  /** Small, so that values that are large beside a frame reach them. */
  private static final KeyspacePolicy.Limits LIMITS =
      new KeyspacePolicy.Limits(1 << 10, 4 << 10, 16 << 10);

  /** For values of more than a MiB. */
  private static final KeyspacePolicy.Limits HUGE_LIMITS =
      new KeyspacePolicy.Limits(1 << 10, 2 << 20, 6 << 20);

  private static final int[] SLA_MILLIS = {0, 200, 1_000, 2_000, 2_000, 10_000};

  /** How often modes are chosen: as in production, and at other paces where a run is hasty. */
  private static final int[] PERIOD_MILLIS = {AdaptationSettings.DEFAULT.periodMillis()};

  private static final int[] HASTY_PERIOD_MILLIS = {50, 200, 1_000};

  /**
   * A causal keyspace and a session keyspace of one or two partitions, with random policies.
   *
   * @param holders of each keyspace, by its number; empty for all datacenters
   * @param sizes of values: objects have a limit that clients reach
   * @param isHasty whether modes are chosen at other paces than in production
   * @param hasHomes whether a session keyspace that not all hold has a home besides the default one
   */
  public static List<Unit> draw(
      Random random,
      IntFunction<List<String>> holders,
      Workload.Sizes sizes,
      boolean isHasty,
      boolean hasHomes) {
    List<Unit> units = new ArrayList<>();
    for (int k = 0; k < KEYSPACES; k++) {
      KeyspacePolicy policy = policy("k" + k, k == 0, random).withReplicas(holders.apply(k));
      policy =
          switch (sizes) {
            case SMALL -> policy;
            case LARGE -> policy.with(LIMITS);
            case HUGE -> policy.with(HUGE_LIMITS);
          };
      AdaptationSettings adaptation =
          adaptation(random, isHasty ? HASTY_PERIOD_MILLIS : PERIOD_MILLIS);
      List<KeyspacePolicy> each = List.of(policy);
      if (hasHomes && k > 0 && !policy.replicas().isEmpty()) {
        policy =
            policy.with(
                new Partitioning(policy.partitions(), Partitioning.Hash.KEY, new Homes(HOME)));
        each = List.of(policy, policy.home(HOME.getFirst()));
      }
      for (KeyspacePolicy one : each) {
        for (int p = 0; p < one.partitions(); p++) {
          units.add(new Unit(units.size(), one, p, adaptation));
        }
      }
    }
    return units;
  }

  /** A causal and a session keyspace that are otherwise equal. */
  public static List<Unit> pair() {
    Duration sla = Duration.ofSeconds(1);
    return List.of(
        new Unit(0, KeyspacePolicy.causal("causal", sla), 0, AdaptationSettings.DEFAULT),
        new Unit(
            1,
            KeyspacePolicy.session("session", sla).withPartitions(1),
            0,
            AdaptationSettings.DEFAULT));
  }

  private static KeyspacePolicy policy(String name, boolean causal, Random random) {
    Propagation[] all = Propagation.values();
    // Adaptive half of the time: it has the most to go wrong.
    Propagation propagation =
        random.nextBoolean() ? Propagation.ADAPTIVE : all[random.nextInt(all.length)];
    Duration sla = Duration.ofMillis(SLA_MILLIS[random.nextInt(SLA_MILLIS.length)]);
    StatePayload payload = random.nextInt(4) == 0 ? StatePayload.FULL : StatePayload.DELTA;
    int partitions = random.nextInt(3) == 0 ? 2 : 1;
    KeyspacePolicy policy =
        causal
            ? KeyspacePolicy.causal(name, sla)
            : KeyspacePolicy.session(name, sla).withPartitions(partitions);
    return policy.with(propagation).with(payload);
  }

  private static AdaptationSettings adaptation(Random random, int[] periods) {
    int period = periods[random.nextInt(periods.length)];
    return new AdaptationSettings(
        20,
        1 + random.nextInt(8),
        period,
        2 * period,
        random.nextInt(3),
        1,
        random.nextInt(3) == 0 ? AdaptationSettings.Policy.RATIO : AdaptationSettings.Policy.COST,
        0.5 + 4 * random.nextDouble());
  }

  /** Whether it is of a keyspace with homes, or of one of them. */
  public boolean hasHomes() {
    return !policy.partitioning().homes().isEmpty();
  }

  /**
   * The first key of a series that belongs to it.
   *
   * @param texts gives the next one; in a home that is named before it, or as its tag
   */
  public Key key(Supplier<String> texts) {
    String home = Homes.home(policy.name());
    Key key;
    do {
      String text = texts.get();
      key =
          Key.of(
              home.isEmpty()
                  ? text
                  : text.hashCode() % 2 == 0 ? home + ":" + text : text + "{" + home + "}");
    } while (policy.partitioning().of(key) != partition);
    return key;
  }

  /**
   * Checks, as production does, that all keys of a request are of this home.
   *
   * @throws OsierException if they are not
   */
  public void checkHome(Request request) {
    switch (request) {
      case Request.Read r -> checkHome(r.key());
      case Request.Write w -> checkHome(w.key());
      case Request.ReadAll r -> r.reads().forEach(of -> checkHome(of.key()));
      case Request.WriteAll w -> w.updates().forEach(of -> checkHome(of.key()));
      case Request.Evaluate e -> e.calls().forEach(of -> of.keys().forEach(this::checkHome));
      default -> {}
    }
  }

  /** Checks that a key is of this home; throws an OsierException if it is not. */
  public void checkHome(Key key) {
    policy.partitioning().homes().check(policy.name(), key);
  }

  /** Whether its budgets in the heap are tiny; as good as drawn. */
  public boolean hasLittleMemory() {
    return adaptation.topK() % 3 == 0;
  }

  /** Whether some hold it, and others may copy objects of it. */
  public boolean mayBeCopied() {
    return !isCausal() && !policy.replicas().isEmpty();
  }

  public boolean isCausal() {
    return policy.consistency() == KeyspacePolicy.Consistency.CAUSAL;
  }

  @Override
  public String toString() {
    return policy.name() + "." + partition;
  }
}
