package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LONG;
import static org.awaitility.Awaitility.await;

import io.osier.core.Partitioning;
import io.osier.crdt.Query;
import io.osier.datacenter.control.ControlPlane;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A holder is removed and added again and again, and in each step of that it, or one that stays, is
 * killed and starts again, while clients use the keyspace everywhere.
 */
final class HolderKillsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");

  @TempDir private Path folder;

  @AutoClose private final Opened open = new Opened();

  private final Map<String, Keyspace> sessions = new TreeMap<>();

  /** How many increments were acknowledged. */
  private int done;

  /**
   * How many increments may be done: they were on their way to another holder when it was killed.
   */
  private int unknown;

  /** How often ap was added again. */
  private int term;

  private record Cluster(TestCluster all, OsierClient operator) {
    /** Whether a datacenter knows a flag of the keyspace in {@code _osier}, which begins so. */
    boolean isNoted(String at, String words) {
      return all
          .store(at)
          .partition("_osier", 0, Partitioning.byKey(1))
          .load(ControlPlane.KEYSPACES.key())
          .stream()
          .anyMatch(o -> o.state().read(new Query.Whole()).toString().contains(words + " "));
    }

    boolean isStored() {
      return all.datacenter("ap").stored().contains("pair");
    }
  }

  private void increment() {
    for (Keyspace pair : sessions.values()) {
      try {
        pair.counter("c").increment(1);
        done++;
      } catch (OutcomeUnknownException e) {
        unknown++;
      }
    }
  }

  /** Clients use the keyspace, wherever a datacenter runs, until something is so. */
  private void until(BooleanSupplier what, int pauseMillis) {
    long end = System.nanoTime() + Patience.LIMIT.toNanos();
    for (int i = 0; !what.getAsBoolean(); i++) {
      assertThat(System.nanoTime()).isLessThan(end);
      if (i * pauseMillis % 100 == 0) {
        increment();
      }
      LockSupport.parkNanos(pauseMillis * 1_000_000L);
    }
  }

  private void alter(
      Cluster in, String replicas, String dies, BooleanSupplier step, BooleanSupplier end) {
    Map<String, String> to = Map.of("replicas", replicas);
    TestCluster.onceSettled(() -> in.operator.admin().alterKeyspaceAsync("pair", to).join());
    if (!dies.isEmpty()) {
      until(step, 10);
      in.all.kill(dies);
      Keyspace session = requireNonNull(sessions.remove(dies));
      increment();
      in.all.start(dies);
      sessions.put(dies, session);
    }
    until(end, 100);
    await().atMost(Patience.LIMIT).untilAsserted(() -> haveAll(List.of(replicas.split(","))));
  }

  /** The holders have all that was acknowledged, and the same of what may be done. */
  private void haveAll(List<String> holders) {
    Set<Long> counts = new TreeSet<>();
    for (String holder : holders) {
      counts.add(requireNonNull(sessions.get(holder)).counter("c").get());
    }
    assertThat(counts).singleElement(LONG).isBetween((long) done, (long) done + unknown);
  }

  private void remove(Cluster in, String dies, String step) {
    String words = step.formatted(term);
    String gone = "_gone ap " + term;
    alter(
        in,
        "eu,us",
        dies,
        () -> words.isEmpty() ? !in.isStored() : in.isNoted(dies, words),
        () -> in.isNoted("eu", gone) && in.isNoted("us", gone) && !in.isStored());
  }

  private void add(Cluster in, String dies, String step) {
    term++;
    String words = step.formatted(term);
    String holds = "_holds ap " + term;
    alter(
        in,
        "ap,eu,us",
        dies,
        () -> words.isEmpty() ? in.isStored() : in.isNoted(dies, words),
        () -> NAMES.stream().allMatch(dc -> in.isNoted(dc, holds)));
  }

  @Test
  void whoeverIsKilled_inWhateverStep_noUpdateIsLost() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed + " of HolderKillsTest");
    Random random = new Random(seed);
    Supplier<String> dies = () -> random.nextBoolean() ? "ap" : "us";
    TestCluster all =
        open.add(
            new TestCluster(
                "pair { sla = 100ms, replicas = [ap, eu, us] }",
                "dir = \"" + folder + "\", durability = sync",
                NAMES.toArray(String[]::new)));
    Cluster in = new Cluster(all, all.clientOf("eu"));
    NAMES.forEach(name -> sessions.put(name, all.clientOf(name).session().keyspace("pair")));
    remove(in, dies.get(), "_quiet ap %d.0 ap");
    add(in, dies.get(), "_again ap %d");
    remove(in, dies.get(), "_unshared ap %d.0 us");
    add(in, dies.get(), ""); // is opened
    remove(in, dies.get(), "_agreed ap %d.0 us");
    add(in, dies.get(), "_holds ap %d");
    remove(in, dies.get(), "_gone ap %d");
    add(in, "", "");
    remove(in, dies.get(), ""); // is dropped
  }
}
