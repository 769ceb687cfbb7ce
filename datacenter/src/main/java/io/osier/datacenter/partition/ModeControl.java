package io.osier.datacenter.partition;

import io.osier.adaptation.Conditions;
import io.osier.adaptation.Mode;
import io.osier.adaptation.Planner;
import io.osier.core.KeyspacePolicy;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.Propagation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether an object's updates are held for a round: as the policy says, or as the planner found.
 * The planner watches with every policy, so that the hot objects can be shown, but only decides
 * with an adaptive one.
 */
final class ModeControl {
  private static final Logger LOG = LoggerFactory.getLogger(ModeControl.class);

  private KeyspacePolicy.Propagation policy;
  private final Planner<ObjectId> planner;
  private long slaNanos;
  private int peers;
  private final ShipmentCost shipmentCost = new ShipmentCost();

  ModeControl(PartitionConfig config, long nowNanos) {
    this.policy = config.policy().propagation();
    this.planner = new Planner<>(config.adaptation(), nowNanos);
    this.slaNanos = config.policy().sla().toNanos();
    this.peers = config.peers().size();
  }

  /** From now on the keyspace behaves so. Nothing may be held at this moment. */
  void configure(KeyspacePolicy changed) {
    policy = changed.propagation();
    slaNanos = changed.sla().toNanos();
  }

  /** So many other datacenters hold the keyspace from now on. */
  void setPeers(int count) {
    peers = count;
  }

  boolean holds(ObjectId object) {
    return modeOf(object) == Mode.STATE;
  }

  private Mode modeOf(ObjectId object) {
    return switch (policy) {
      case OP -> Mode.OP;
      case STATE -> Mode.STATE;
      case ADAPTIVE -> planner.modeOf(object);
    };
  }

  /** Why an object has its mode, in words. */
  String why(ObjectId object) {
    return switch (policy) {
      case OP -> "propagation = op";
      case STATE -> "propagation = state";
      case ADAPTIVE -> planner.measured(object);
    };
  }

  boolean isMeasured(ObjectId object) {
    return planner.isMeasured(object);
  }

  /** As {@link #why}, with what a decision would compare now. */
  String explain(ObjectId object, long holdNanos) {
    return policy == KeyspacePolicy.Propagation.ADAPTIVE
        ? planner.explain(object, conditions(holdNanos))
        : why(object) + "; " + planner.measured(object);
  }

  private Conditions conditions(long holdNanos) {
    return new Conditions(slaNanos, holdNanos, peers, shipmentCost.bytes());
  }

  void updated(ObjectId object, int opBytes, CrdtState after) {
    planner.updated(object, opBytes, after.sizeBytes());
  }

  void flushed(ObjectId object, int updates, int bytes) {
    planner.flushed(object, updates, bytes);
  }

  /** Takes note of how long the handling of received shipments took. */
  void handled(int shipments, long nanos) {
    shipmentCost.handled(shipments, nanos);
  }

  /** What is measured of the handling of a shipment, in bytes that are worth as much. */
  double shipmentCost() {
    return shipmentCost.bytes();
  }

  /** Decides, if it is time. Returns the objects that go back to operations. */
  List<ObjectId> decide(long nowNanos, Propagation streams) {
    if (nowNanos < planner.nextDecisionNanos()) {
      return List.of();
    }
    // With a fixed mode the planner measures, but finds nothing worth holding.
    long hold = policy == KeyspacePolicy.Propagation.ADAPTIVE ? streams.holdNanos() : 0;
    List<ObjectId> released = new ArrayList<>();
    for (Planner.Switch<ObjectId> change : planner.decide(nowNanos, conditions(hold))) {
      LOG.debug("{} -> {}: {}", change.object(), change.to().label(), change.reason());
      if (change.to() == Mode.OP) {
        released.add(change.object());
      }
    }
    return released;
  }

  long nextDecisionNanos() {
    return planner.nextDecisionNanos();
  }

  int stateObjects() {
    return planner.stateObjects();
  }

  Map<Planner.Cause, Long> switches() {
    return planner.switchesByCause();
  }

  List<PartitionReport.Hot> hot(int limit) {
    return planner.hot(limit).stream()
        .map(
            h ->
                new PartitionReport.Hot(
                    h.object(),
                    modeOf(h.object()).label(),
                    h.perSecond(),
                    h.objectBytes(),
                    h.opBytes(),
                    h.count(),
                    h.error()))
        .toList();
  }
}
