package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Decides which objects' states are fetched from a peer because its updates wait for others that do
 * not come. Pure; not thread-safe.
 */
final class FetchPolicy {
  private final ReplicationContext around;
  private final InboundStreams streams;
  private final UpdateApplier applier;
  private final PathSkew skew;
  private final Predicate<String> linkUp;

  FetchPolicy(
      ReplicationContext around,
      InboundStreams streams,
      UpdateApplier applier,
      PathSkew skew,
      Predicate<String> linkUp) {
    this.around = around;
    this.streams = streams;
    this.applier = applier;
    this.skew = skew;
    this.linkUp = linkUp;
  }

  /** Returns the objects to fetch from a peer now; see {@link PendingUpdates#toFetch}. */
  List<ObjectId> due(InboundStream in, long nowNanos) {
    return in.toFetch(
        nowNanos,
        skew.graceNanos(in.sender().dc()),
        around.retryNanos(),
        shipment -> comesLater(shipment, nowNanos));
  }

  /**
   * Returns the same objects with those last whose states will be pulled: the others need not wait.
   */
  List<ObjectId> largeLast(List<ObjectId> objects) {
    Map<Boolean, List<ObjectId>> byLarge =
        objects.stream().collect(Collectors.partitioningBy(this::isLarge));
    List<ObjectId> all = new ArrayList<>(requireNonNull(byLarge.get(false)));
    all.addAll(requireNonNull(byLarge.get(true)));
    return all;
  }

  private boolean isLarge(ObjectId object) {
    CrdtState here = around.replica().state(object);
    return here != null && here.sizeBytes() > around.settings().pullBytes();
  }

  /** Returns when there may be something to fetch from a peer, or a fetch to repeat. */
  long nextNanos(InboundStream in) {
    return in.nextFetchNanos(skew.graceNanos(in.sender().dc()), around.retryNanos());
  }

  /**
   * Whether an update waits for an origin whose stream stands still or has just come back. Then the
   * origin itself or a third datacenter will send the missing updates, which should not be sent
   * twice.
   */
  private boolean comesLater(Shipment shipment, long nowNanos) {
    CausalContext here = applier.context(shipment.object());
    VersionVector needs = shipment.needs();
    for (int i = 0; i < needs.size(); i++) {
      ReplicaId r = needs.replica(i);
      if (applier.seen(here, r) < needs.number(i) && !isStreaming(r, nowNanos)) {
        return true;
      }
    }
    return false;
  }

  /** Whether an origin's stream flows: it began long enough ago, and the origin is heard. */
  boolean isStreaming(ReplicaId origin, long nowNanos) {
    InboundStream in = streams.get(origin.dc());
    return in != null
        && in.sender().equals(origin)
        && linkUp.test(origin.dc())
        && !in.position().isResuming()
        && nowNanos - in.position().resumeSentNanos() >= around.retryNanos()
        && nowNanos - in.liveness().aliveNanos() < around.retryNanos();
  }
}
