package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A partition that is started on what a store has. */
abstract class RestartsFixture {
  static final ReplicaId US = new ReplicaId("us", 1);

  static final ReplicaId AP = new ReplicaId("ap", 1);

  final MemoryVersions versions = new MemoryVersions();

  final List<Frame> sent = new ArrayList<>();

  PartitionStore store = open(1);

  Partition partition = start(1, 1, false);

  long nanos = 1;

  PartitionStore open(long incarnation) {
    return Partitions.store(
        versions, new WritesAtOnce(versions::write), new ReplicaId("eu", incarnation));
  }

  Partition start(long life, long incarnation, boolean resumed) {
    ReplicaId self = new ReplicaId("eu", incarnation);
    store = open(incarnation);
    RecoveredState recovered = store.recover(life, resumed, List.of());
    PartitionConfig config =
        Partitions.config(
            self, List.of("us", "ap"), KeyspacePolicy.session("k", Duration.ofSeconds(1)));
    return new Partition(config, store, recovered, now());
  }

  Now now() {
    return new Now(nanos, 1 + nanos / 1_000_000);
  }

  void input(Input input) {
    Effects effects = partition.step(input, now());
    effects.keep(store, () -> {});
    for (Effects.Output output : effects.whenDurable()) {
      if (output instanceof Effects.Send s) {
        sent.add(s.frame());
      }
    }
  }

  void tick(long millis) {
    nanos += millis * 1_000_000;
    input(new Input.Tick());
  }

  <F extends Frame> F sent(Class<F> type) {
    assertThat(sent).hasAtLeastOneElementOfType(type);
    return type.cast(sent.stream().filter(type::isInstance).findFirst().orElseThrow());
  }

  /** The peer's link comes up, and it has nothing that is not here. */
  void up(ReplicaId peer) {
    up(peer, 0);
  }

  /**
   * The peer's link comes up.
   *
   * @param committed how far its updates go
   */
  void up(ReplicaId peer, long committed) {
    sent.clear();
    input(new Input.PeerUp(peer));
    VersionVector none = VersionVector.EMPTY;
    input(
        new Input.FromPeer(
            peer, new Frame.Status(true, 0, 0, none, 1, none, committed, false, nanos)));
  }

  /** The peer made an object and removed it, and has forgotten both. */
  void upWithoutWhatItForgot(ReplicaId peer) {
    up(peer, 5);
    catchUp(peer);
  }

  void catchUp(ReplicaId peer) {
    long epoch = sent(Frame.Resume.class).epoch();
    input(
        new Input.FromPeer(
            peer,
            new Frame.Updates(
                Frame.Kind.CATCH_UP,
                epoch,
                1,
                5,
                VersionVector.EMPTY,
                Optional.of(new Frame.Cursor(1, 0, 5, 5, Optional.empty())),
                false,
                nanos,
                List.of())));
  }
}
