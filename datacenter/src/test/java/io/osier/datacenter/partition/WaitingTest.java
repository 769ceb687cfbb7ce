package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ObjectProgress.Count;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is said of who waits for what, since when. */
class WaitingTest {
  private static final long SECOND = 1_000_000_000;
  private static final long BOUND_MILLIS = 2_000;

  private static Cluster three(KeyspacePolicy.Propagation propagation) {
    return new Cluster(
        KeyspacePolicy.session("k", Duration.ofMillis(BOUND_MILLIS)).with(propagation),
        "eu",
        "us",
        "ap");
  }

  private static Optional<PartitionReport.OneObject> about(
      Cluster cluster, String dc, String key, CrdtType type) {
    Cluster.Dc at = cluster.dc(dc);
    cluster.input(at, new Input.Inspect(0, 0, List.of(new ObjectId(Key.of(key), type))));
    return requireNonNull(at.report).about().objects().stream().findFirst();
  }

  private static ObjectProgress progress(Cluster cluster, String dc, String key, CrdtType type) {
    return about(cluster, dc, key, type).orElseThrow().progress();
  }

  @Test
  void heldUpdates_areCounted_withTheirAgeAndWhenTheyLeave() {
    Cluster cluster = three(KeyspacePolicy.Propagation.STATE);
    cluster.dc("eu").add("x", 1);
    cluster.run(300);
    cluster.dc("eu").add("x", 1);
    ObjectProgress x = progress(cluster, "eu", "x", CrdtType.PN_COUNTER);
    assertThat(x.held()).isEqualTo(new Count(2, 300_000_000));
    assertThat(x.leavesNanos()).isBetween(SECOND / 4, BOUND_MILLIS * 1_000_000 - 300_000_000);
    assertThat(x.missing()).isEmpty();
    cluster.run(x.leavesNanos() / 1_000_000 + 1);
    assertThat(progress(cluster, "eu", "x", CrdtType.PN_COUNTER).missing())
        .as("under way")
        .extracting(ObjectProgress.Missing::dc)
        .containsExactly("ap", "us");
    cluster.run(1_000);
    assertThat(about(cluster, "eu", "x", CrdtType.PN_COUNTER))
        .hasValueSatisfying(o -> assertThat(o.progress().isDone()).isTrue());
  }

  @Test
  void whatAPeerLacksBehindACutLink_isCounted_withTheAgeOfTheCut() {
    Cluster cluster = three(KeyspacePolicy.Propagation.OP);
    cluster.dc("eu").add("other", 1);
    cluster.run(1_000);
    cluster.cut("eu", "ap");
    cluster.run(1_000);
    cluster.dc("eu").add("x", 1);
    cluster.run(1_000);
    cluster.dc("eu").add("x", 1);
    cluster.run(4_000);
    assertThat(progress(cluster, "eu", "x", CrdtType.PN_COUNTER).missing())
        .containsExactly(new ObjectProgress.Missing("ap", new Count(2, 5 * SECOND), 6 * SECOND));
    assertThat(progress(cluster, "eu", "other", CrdtType.PN_COUNTER).isDone())
        .as("what came before the cut")
        .isTrue();
    cluster.heal("eu", "ap");
    cluster.run(2_000);
    assertThat(progress(cluster, "eu", "x", CrdtType.PN_COUNTER).isDone()).isTrue();
  }

  @Test
  void whatWaitsForAnothersUpdate_namesIt() {
    Cluster cluster = three(KeyspacePolicy.Propagation.OP);
    cluster.cut("eu", "ap");
    Value e = Value.of("e");
    cluster.dc("eu").write("s", CrdtType.AW_SET, new Operation.Add(List.of(e)));
    cluster.run(60);
    cluster.dc("us").write("s", CrdtType.AW_SET, new Operation.Remove(List.of(e)));
    cluster.run(60);
    assertThat(progress(cluster, "ap", "s", CrdtType.AW_SET).waiting())
        .singleElement()
        .satisfies(
            w -> {
              assertThat(w.from()).isEqualTo("us");
              assertThat(w.count()).isEqualTo(new Count(1, 20_000_000));
              assertThat(w.needs().number(0)).isEqualTo(1);
              assertThat(w.needs().replica(0).dc()).isEqualTo("eu");
            });
  }

  @Test
  void objectOfWhichNothingIsKnown_isLeftOut_andRightsAreCounted() {
    Cluster cluster = three(KeyspacePolicy.Propagation.ADAPTIVE);
    assertThat(about(cluster, "eu", "nobody", CrdtType.PN_COUNTER)).isEmpty();
    cluster.dc("eu").add("x", 1);
    assertThat(about(cluster, "eu", "x", CrdtType.PN_COUNTER))
        .hasValueSatisfying(
            o -> {
              assertThat(o.mode()).isEqualTo("op");
              assertThat(o.why()).contains("updates/s").contains("worth it from 2 on");
            });
  }

  private static List<Waited.Command> heard(Cluster cluster, String dc) {
    List<Waited.Command> all = new ArrayList<>();
    cluster.heard =
        (at, effects) -> {
          if (at.self.dc().equals(dc)) {
            all.addAll(at.partition.takeWaited());
          }
        };
    return all;
  }

  @Test
  void requestThatWaitedForItsSessionsPast_saysWhose_andForHowLong() {
    Cluster cluster = three(KeyspacePolicy.Propagation.OP);
    List<Waited.Command> waited = heard(cluster, "us");
    Reply.Done done = cluster.dc("eu").add("x", 1);
    VersionVector seen = VersionVector.of(done.dot().replica(), done.dot().number());
    long ticket = cluster.dc("us").ask("x", seen, 1_000);
    assertThat(waited).as("as long as it waits").isEmpty();
    cluster.run(1_000);
    assertThat(waited)
        .containsExactly(
            new Waited.Command(ticket, new Waited(Waited.For.PAST, "updates of eu", 40_000_000)));
    long inVain = cluster.dc("us").ask("x", VersionVector.of(done.dot().replica(), 99), 300);
    cluster.run(1_000);
    assertThat(waited.getLast())
        .isEqualTo(
            new Waited.Command(inVain, new Waited(Waited.For.PAST, "updates of eu", 300_000_000)));
  }

  @Test
  void updateThatWaitedForRights_saysSo() {
    Cluster cluster = three(KeyspacePolicy.Propagation.OP);
    cluster.later("eu", "b", new Operation.Bound(0, 100, List.of()));
    cluster.later("eu", "b", new Operation.Increment(30));
    cluster.run(1_000);
    List<Waited.Command> waited = heard(cluster, "us");
    long ticket = cluster.later("us", "b", new Operation.IncrementWithin(-25, 2_000));
    assertThat(about(cluster, "us", "b", CrdtType.BOUNDED_COUNTER))
        .hasValueSatisfying(o -> assertThat(o.rightsWaiting()).isEqualTo(1));
    cluster.run(2_000);
    assertThat(waited).extracting(Waited.Command::ticket).containsOnly(ticket);
    assertThat(waited.getFirst().waited().what()).isEqualTo(Waited.For.RIGHTS);
    assertThat(waited.getFirst().waited().nanos()).isBetween(80_000_000L, 500_000_000L);
  }
}
