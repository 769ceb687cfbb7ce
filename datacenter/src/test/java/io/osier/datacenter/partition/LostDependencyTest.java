package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In a causal keyspace: ap did something, us saw it and did something more, and only that has come
 * to others, where it waits. Then ap and us lose their memory.
 *
 * <pre>
 *   ap --- first --> us --- second --> eu, sa
 * </pre>
 */
final class LostDependencyTest {
  private Cluster cluster = cluster(Propagation.OP, List.of("ap", "eu", "sa", "us"));

  private static Cluster cluster(Propagation propagation, List<String> names) {
    KeyspacePolicy policy = KeyspacePolicy.causal("k", Duration.ofMillis(500)).with(propagation);
    return new Cluster(policy, names.toArray(String[]::new));
  }

  private void secondComesWithoutFirst(String... withoutFirst) {
    separate("ap", withoutFirst);
    cluster.dc("ap").add("first", 1);
    cluster.run(100);
    cluster.dc("us").add("second", 1);
    cluster.run(100);
    assertThat(cluster.dc("us").value("first")).isEqualTo(1);
    for (String dc : withoutFirst) {
      assertThat(waiting(dc)).isEqualTo(1);
    }
  }

  private int waiting(String dc) {
    return cluster.dc(dc).report().arrived().waitingUpdates();
  }

  private void bothLoseTheirMemory() {
    cluster.crash("ap");
    cluster.crash("us");
    cluster.reconnect("ap");
    cluster.reconnect("us");
  }

  private void assertValues(long first, long second) {
    assertThat(cluster.isConverged()).isTrue();
    for (String dc : cluster.names) {
      assertThat(cluster.dc(dc).value("first")).as(dc).isEqualTo(first);
      assertThat(cluster.dc(dc).value("second")).as(dc).isEqualTo(second);
      assertThat(waiting(dc)).as("waiting at %s", dc).isZero();
      assertThat(cluster.dc(dc).partition.isSettled()).as("%s is settled", dc).isTrue();
    }
  }

  @Test
  void whatDependsOnWhatNobodyHas_isGivenUpEverywhere() {
    secondComesWithoutFirst("eu", "sa");
    bothLoseTheirMemory();
    cluster.run(100_000);
    assertValues(0, 0);
    for (String dc : cluster.names) {
      assertThat(answer(dc, VersionVector.of(new ReplicaId("us", 1), 1)))
          .as("who saw it is told")
          .isEqualTo(ErrorCode.SESSION_LOST);
      cluster.dc(dc).add("first", 1);
    }
    cluster.run(5_000);
    assertValues(4, 0);
  }

  private ErrorCode answer(String dc, VersionVector after) {
    Reply reply =
        cluster.dc(dc).write("o", CrdtType.PN_COUNTER, new Operation.Increment(1), after, 0);
    return ((Reply.Failure) reply).code();
  }

  /** Two are gone for good: the others go on without them. */
  @Test
  void whatDependsOnWhatOnlyRemovedOnesHad_isGivenUp() {
    secondComesWithoutFirst("eu", "sa");
    cluster.crash("ap");
    cluster.crash("us");
    cluster.run(5_000);
    assertThat(waiting("eu")).as("they may come back").isEqualTo(1);
    cluster.input(cluster.dc("eu"), new Input.Peers(1, List.of("sa"), List.of("sa"), false, 0));
    cluster.input(cluster.dc("sa"), new Input.Peers(1, List.of("eu"), List.of("eu"), false, 1));
    cluster.run(100_000);
    for (String dc : List.of("eu", "sa")) {
      assertThat(waiting(dc)).as(dc).isZero();
      assertThat(cluster.dc(dc).partition.isComplete(1)).as(dc).isTrue();
    }
  }

  /** One has it, but cannot be reached when all others have nothing. */
  @Test
  void whatSomebodyHas_isNotGivenUp_andComesFromThere() {
    cluster.cut("eu", "sa");
    secondComesWithoutFirst("eu");
    assertThat(cluster.dc("sa").value("second")).isEqualTo(1);
    separate("sa", "ap", "us");
    cluster.crash("ap");
    cluster.crash("us");
    cluster.heal("ap", "eu");
    cluster.heal("us", "eu");
    cluster.heal("ap", "us");
    cluster.run(100_000);
    assertThat(waiting("eu")).isEqualTo(1);
    cluster.reconnect("sa");
    cluster.run(10_000);
    assertValues(1, 1);
  }

  /** What its last status said is older than what it has. */
  @Test
  void whatSomebodyHasGotSinceItLastToldOfIt_isNotGivenUp() {
    cluster.loss = (link, frame) -> link.equals("sa>eu");
    secondComesWithoutFirst("eu");
    assertThat(cluster.dc("sa").value("second")).isEqualTo(1);
    bothLoseTheirMemory();
    // Nobody gives eu the second one before it has heard of the first.
    cluster.loss = (link, frame) -> link.equals("sa>eu") || isStates(frame);
    cluster.run(100_000);
    assertThat(waiting("eu")).isEqualTo(1);
    cluster.loss = (link, frame) -> false;
    cluster.run(60_000);
    assertValues(1, 1);
  }

  /**
   * Why what depends on it is not simply shown: us has used rights that ap gave it, and ap's next
   * incarnation would use them again, since nobody knows of the gift.
   */
  @Test
  void rightsOfWhichTheGiftIsLost_areNotUsedTwice() {
    bounded("eu", new Operation.Bound(-40, 0, List.of()));
    cluster.run(1_000);
    separate("ap", "eu", "sa");
    separate("us", "eu", "sa");
    bounded("us", new Operation.IncrementWithin(-12, 3_000));
    cluster.run(1_000);
    assertThat(count("us")).as("us has 10 itself").isEqualTo(-12);
    cluster.heal("us", "eu");
    cluster.heal("us", "sa");
    cluster.run(300);
    bothLoseTheirMemory();
    cluster.run(100_000);
    for (String dc : cluster.names) {
      separate(dc, cluster.names.toArray(String[]::new));
    }
    for (String dc : cluster.names) {
      for (int i = 0; i < 40; i++) {
        bounded(dc, new Operation.Increment(-1));
      }
    }
    cluster.names.forEach(cluster::reconnect);
    cluster.converges(20_000);
    assertThat(count("eu")).isEqualTo(-40);
  }

  /** Datacenters lose their memory while links are cut: after one run in eight something waited. */
  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5})
  void whateverIsLost_allAreEqualInTheEnd_andNothingWaits(int size) {
    for (int seed = 1; seed <= 12; seed++) {
      Random random = new Random(seed);
      Propagation[] ways = Propagation.values();
      List<String> names = List.of("ap", "eu", "sa", "us", "za").subList(0, size);
      cluster = cluster(ways[random.nextInt(ways.length)], names);
      boolean isLossy = random.nextBoolean();
      cluster.loss = (link, frame) -> isLossy && random.nextInt(20) == 0;
      for (int step = 0; step < 150; step++) {
        step(random, names.get(random.nextInt(size)), names.get(random.nextInt(size)));
        cluster.run(random.nextInt(150));
      }
      cluster.loss = (link, frame) -> false;
      names.forEach(cluster::reconnect);
      for (int second = 0; second < 180 && !nothingWaits(); second++) {
        cluster.run(1_000);
      }
      cluster.run(20_000); // and it stays so
      assertThat(cluster.isConverged()).as("seed %d", seed).isTrue();
      for (String dc : names) {
        assertThat(waiting(dc)).as("seed %d, waiting at %s", seed, dc).isZero();
        assertThat(cluster.dc(dc).partition.isSettled()).as("seed %d, %s", seed, dc).isTrue();
      }
    }
  }

  private boolean nothingWaits() {
    return cluster.isConverged()
        && cluster.names.stream()
            .allMatch(dc -> waiting(dc) == 0 && cluster.dc(dc).partition.isSettled());
  }

  private void step(Random random, String dc, String other) {
    switch (random.nextInt(20)) {
      case 0, 1, 2 -> separate(dc, other);
      case 3, 4 -> {
        if (!dc.equals(other)) {
          cluster.heal(dc, other);
        }
      }
      case 5 -> {
        cluster.crash(dc);
        if (random.nextBoolean()) {
          cluster.reconnect(dc);
        }
      }
      case 6 -> cluster.run(random.nextInt(4_000));
      default -> {
        Operation one = new Operation.Increment(1);
        cluster.dc(dc).write("x" + random.nextInt(6), CrdtType.PN_COUNTER, one);
      }
    }
  }

  private void separate(String dc, String... others) {
    for (String other : others) {
      if (!other.equals(dc)) {
        cluster.cut(dc, other);
      }
    }
  }

  private void bounded(String dc, Operation operation) {
    cluster.later(dc, "stock", operation);
  }

  private long count(String dc) {
    return ((Reading.Count) cluster.dc(dc).read("stock", CrdtType.BOUNDED_COUNTER)).value();
  }

  private static boolean isStates(Frame frame) {
    return frame instanceof Frame.States;
  }
}
