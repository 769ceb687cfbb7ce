package io.osier.datacenter.partition.mode;

import io.osier.adaptation.Conditions;
import io.osier.adaptation.Mode;
import io.osier.adaptation.Planner;
import io.osier.core.KeyspacePolicy;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether an object's updates are held for a round: as the policy says, or as the planner found.
 * The planner watches with every policy, so that the hot objects can be shown, but only decides
 * with an adaptive one.
 */
public final class ModeControl {
  private static final Logger LOG = LoggerFactory.getLogger(ModeControl.class);

  private KeyspacePolicy.Propagation policy;
  private final Planner<ObjectId> planner;
  private long slaNanos;
  private int peers;
  private final int self;
  private final ShipmentCost shipmentCost = new ShipmentCost();

  /**
   * When the first window of objects ends that were found hot. They are found at one moment, and a
   * hot object's window opens right after its last one: they would leave together for ever. Where
   * cuts are marked, everything leaves together. Of objects that the planner has in state mode
   * only, which are few.
   */
  private final Map<ObjectId, Long> firstEndsNanos = new HashMap<>();

  private final boolean spreads;

  public ModeControl(PartitionConfig config, long nowNanos) {
    this.policy = config.policy().propagation();
    this.planner = new Planner<>(config.adaptation(), nowNanos);
    this.slaNanos = config.policy().sla().toNanos();
    this.peers = config.peers().size();
    this.spreads = !config.isCausal();
    this.self = config.self().dc().hashCode();
  }

  /** From now on the keyspace behaves so. Nothing may be held at this moment. */
  public void configure(KeyspacePolicy changed) {
    firstEndsNanos.clear(); // windows of another length, if any
    policy = changed.propagation();
    slaNanos = changed.sla().toNanos();
  }

  /** So many other datacenters hold the keyspace from now on. */
  public void setPeers(int count) {
    peers = count;
  }

  /**
   * Whether the next update, which is committed now, is held; if not, what is held leaves with it.
   * To be asked once for each: the one that ends an object's first window is not held.
   */
  public boolean holdsNext(ObjectId object, long nowNanos) {
    if (peers == 0 || modeOf(object) == Mode.OP) {
      return false; // there is nobody to hold it back from
    }
    Long ends = firstEndsNanos.get(object);
    if (ends == null || nowNanos < ends) {
      return true;
    }
    firstEndsNanos.remove(object);
    return false;
  }

  /** A part of a window, from none to all of it, as the object's name and ours give it. */
  private long phaseNanos(ObjectId object, long windowNanos) {
    int mixed = (object.key().hashCode() ^ self) * 0x9E3779B9;
    return (long) (windowNanos * ((mixed >>> 1) / (double) Integer.MAX_VALUE));
  }

  public Mode modeOf(ObjectId object) {
    return switch (policy) {
      case OP -> Mode.OP;
      case STATE -> Mode.STATE;
      case ADAPTIVE -> planner.modeOf(object);
    };
  }

  public String why(ObjectId object) {
    return switch (policy) {
      case OP -> "propagation = op";
      case STATE -> "propagation = state";
      case ADAPTIVE -> planner.measured(object);
    };
  }

  public boolean isMeasured(ObjectId object) {
    return planner.isMeasured(object);
  }

  /** As {@link #why}, with what a decision would compare now. */
  public String explain(ObjectId object, long holdNanos) {
    return policy == KeyspacePolicy.Propagation.ADAPTIVE
        ? planner.explain(object, conditions(holdNanos))
        : why(object) + "; " + planner.measured(object);
  }

  private Conditions conditions(long holdNanos) {
    return new Conditions(slaNanos, holdNanos, peers, shipmentCost.bytes());
  }

  public void updated(ObjectId object, int opBytes, CrdtState after) {
    planner.updated(object, opBytes, after.sizeBytes());
  }

  public void flushed(ObjectId object, int updates, int bytes) {
    planner.flushed(object, updates, bytes);
  }

  /** Takes note of how long the handling of received shipments took. */
  public void handled(int shipments, long nanos) {
    shipmentCost.handled(shipments, nanos);
  }

  /** What is measured of the handling of a shipment, in bytes that are worth as much. */
  public double shipmentCost() {
    return shipmentCost.bytes();
  }

  /**
   * Decides, if it is time. Returns the objects that go back to operations.
   *
   * @param holdNanos how long an update may be held
   */
  public List<ObjectId> decide(long nowNanos, LongSupplier holdNanos) {
    if (nowNanos < planner.nextDecisionNanos()) {
      return List.of();
    }
    // With a fixed mode the planner measures, but finds nothing worth holding.
    long hold = policy == KeyspacePolicy.Propagation.ADAPTIVE ? holdNanos.getAsLong() : 0;
    List<ObjectId> released = new ArrayList<>();
    for (Planner.Switch<ObjectId> change : planner.decide(nowNanos, conditions(hold))) {
      LOG.debug("{} -> {}: {}", change.object(), change.to().label(), change.reason());
      if (change.to() == Mode.OP) {
        firstEndsNanos.remove(change.object());
        released.add(change.object());
      } else if (spreads) {
        firstEndsNanos.put(change.object(), nowNanos + phaseNanos(change.object(), hold));
      }
    }
    return released;
  }

  public long nextDecisionNanos() {
    return planner.nextDecisionNanos();
  }

  public int stateObjects() {
    return planner.stateObjects();
  }

  public Map<Planner.Cause, Long> switches() {
    return planner.switchesByCause();
  }

  public List<PartitionReport.Hot> hot(int limit) {
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
