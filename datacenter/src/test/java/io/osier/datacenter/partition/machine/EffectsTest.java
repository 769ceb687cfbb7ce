package io.osier.datacenter.partition.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a partition wants done is data: all of it can be written down and read back. */
final class EffectsTest {
  private static final StreamSettings FORGET_AT_ONCE =
      new StreamSettings(64 << 10, 2 << 10, 1_000, 200, 1_000, 0);

  private final Set<String> seen = new TreeSet<>();

  private static Frame again(ReplicaId self, Frame frame) {
    return FrameCodec.decode(self, FrameCodec.encode(self, frame));
  }

  private static Frame states(List<Shipment> shipments, VersionVector deps) {
    return new Frame.States(
        1, Optional.empty(), Optional.empty(), 0, Frame.Place.NONE, deps, shipments);
  }

  private void check(ReplicaId self, Effects effects) {
    for (Effects.Recorded record : effects.records()) {
      seen.add(record.getClass().getSimpleName());
      Frame carrier =
          switch (record) {
            case Effects.Applied a -> {
              Shipment u = a.update();
              CrdtState state = a.state();
              Shipment whole =
                  new Shipment(u.object(), self, 0, VersionVector.EMPTY, u.last(), 1, 0, state);
              yield states(List.of(u, whole), VersionVector.EMPTY);
            }
            case Effects.Forgotten f -> new Frame.Fetch(1, List.of(f.object()));
            case Effects.Committed c -> {
              Request request =
                  Requests.step("k", c.transaction(), 2, List.of(), List.of(), Request.End.COMMIT);
              assertThat(ProtocolCodec.decodeRequest(ProtocolCodec.encode(1, request)).message())
                  .isEqualTo(request);
              yield new Frame.Ack(1, c.number());
            }
          };
      assertThat(again(self, carrier)).isEqualTo(carrier);
    }
    effects.progress().ifPresent(p -> check(self, p));
    for (Effects.Output output : effects.whenDurable()) {
      switch (output) {
        case Effects.ToClient a -> {
          seen.add(a.reply().getClass().getSimpleName());
          assertThat(
                  ProtocolCodec.decodeReply(ProtocolCodec.encode(a.ticket(), a.reply())).message())
              .isEqualTo(a.reply());
        }
        case Effects.Visible v -> {
          seen.add(v.changes().isEmpty() ? "Begun" : "Visible");
          Reply.Changes told =
              new Reply.Changes(
                  v.changes().stream()
                      .map(
                          c ->
                              new Reply.Change(
                                  c.object().key(),
                                  Optional.of(c.object().type()),
                                  Optional.ofNullable(c.origin())))
                      .toList(),
                  List.of(
                      new WatchRequest.Place(v.life(), 1, v.here(), Optional.empty()),
                      new WatchRequest.Place(v.life(), 2, v.far(), Optional.empty())),
                  v.changes().isEmpty() || v.changes().getLast().ends());
          assertThat(ProtocolCodec.decodeReply(ProtocolCodec.encode(1, told)).message())
              .isEqualTo(told);
        }
        case Effects.Send s -> {
          seen.add(s.frame().getClass().getSimpleName());
          assertThat(again(self, s.frame())).isEqualTo(s.frame());
        }
      }
    }
  }

  private void check(ReplicaId self, PartitionProgress progress) {
    seen.add("PartitionProgress");
    Frame through = states(List.of(), progress.others().through());
    assertThat(again(self, through)).isEqualTo(through);
    for (Frame.Cursor cursor : progress.others().cursors().values()) {
      seen.add("Cursor");
      Frame resume = new Frame.Resume(1, 1, Optional.of(cursor));
      assertThat(again(self, resume)).isEqualTo(resume);
    }
  }

  private void run(KeyspacePolicy policy) {
    Cluster cluster = new Cluster(policy, FORGET_AT_ONCE, "eu", "us", "ap");
    cluster.heard = (dc, effects) -> check(dc.self, effects);
    cluster.input(cluster.dc("us"), new Input.Watched(7));
    for (int i = 0; i < 5; i++) {
      cluster.dc("eu").add("n", 1);
      cluster.dc("us").add("n", 1);
      cluster.run(20);
    }
    Operation add = new Operation.Add(List.of(Value.of("x")));
    cluster.dc("ap").write("s", CrdtType.AW_SET, add);
    cluster.dc("ap").write("s", CrdtType.PN_COUNTER, new Operation.Increment(1)); // wrong type
    cluster.dc("eu").write("b", CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 10, List.of()));
    cluster.dc("eu").write("b", CrdtType.BOUNDED_COUNTER, new Operation.Increment(9));
    cluster.run(500);
    cluster.later("us", "b", new Operation.IncrementWithin(-9, 1_000));
    cluster.dc("eu").transact(new Request.Update(Key.of("t"), CrdtType.AW_SET, add));
    cluster.dc("ap").write("s", CrdtType.AW_SET, new Operation.Clear());
    cluster.cut("eu", "us");
    cluster.dc("eu").add("n", 1);
    cluster.run(5_000); // heals through ap
    cluster.heal("eu", "us");
    cluster.crash("ap");
    cluster.reconnect("ap");
    cluster.dc("us").ask("n", VersionVector.EMPTY, 0);
    cluster.run(20_000);
  }

  @Test
  void everyEffect_canBeWrittenDownAndReadBack() {
    run(KeyspacePolicy.session("k", Duration.ofSeconds(1)));
    run(KeyspacePolicy.causal("k", Duration.ofSeconds(1)));
    assertThat(seen)
        .contains(
            "Applied",
            "Committed",
            "Forgotten",
            "PartitionProgress",
            "Cursor",
            "Done",
            "Failure",
            "Transacted",
            "Updates",
            "Ack",
            "Resume",
            "Status",
            "States",
            "Heal",
            "Begun",
            "Visible",
            "Rights");
  }
}
