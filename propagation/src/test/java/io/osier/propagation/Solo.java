package io.osier.propagation;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.propagation.host.FrameSink;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The replication of "eu" alone: a test sets the time, plays the peers, and sees the answers. */
public final class Solo {
  static final KeyspacePolicy SESSION = KeyspacePolicy.session("k", Duration.ofSeconds(1));
  static final KeyspacePolicy CAUSAL = KeyspacePolicy.causal("k", Duration.ofSeconds(1));
  final List<Frame> sent = new ArrayList<>();

  final Propagation propagation;
  long nowMillis = 1_000_000;

  /** Creates a replication without a store. */
  Solo(KeyspacePolicy policy, ObjectAccess objects, String... peers) {
    this(policy, RecoveredState.NOTHING, objects, peers);
  }

  Solo(KeyspacePolicy policy, RecoveredState recovered, ObjectAccess objects, String... peers) {
    this(policy, StreamSettings.DEFAULT, recovered, objects, (to, frame) -> {}, peers);
  }

  /**
   * Creates a replication of everything that differs between tests.
   *
   * @param sink gets each frame, besides {@link #sent}
   */
  Solo(
      KeyspacePolicy policy,
      StreamSettings settings,
      RecoveredState recovered,
      ObjectAccess objects,
      FrameSink sink,
      String... peers) {
    propagation =
        new Propagation(
            new ReplicationContext(
                TestSurroundings.SELF,
                List.of(peers),
                policy,
                settings,
                recovered,
                objects,
                (to, frame) -> {
                  sent.add(frame);
                  sink.send(to, frame);
                },
                UpdateObserver.NONE),
            nowMillis * 1_000_000);
  }

  void up(ReplicaId peer) {
    propagation.peerUp(peer, nowMillis * 1_000_000);
  }

  void down(ReplicaId peer) {
    propagation.peerDown(peer.dc(), nowMillis * 1_000_000);
  }

  void receive(ReplicaId from, Frame frame) {
    propagation.received(from, frame, nowMillis * 1_000_000, nowMillis);
  }

  void tick() {
    propagation.tick(nowMillis * 1_000_000, nowMillis);
  }

  void tick(long millis) {
    nowMillis += millis;
    tick();
  }

  <F extends Frame> List<F> sent(Class<F> kind) {
    return sent.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Returns the epoch in which it last requested a stream. */
  long epoch() {
    return sent(Frame.Resume.class).getLast().epoch();
  }
}
