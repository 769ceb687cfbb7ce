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
 * Decides whether an object's updates are held for a round: by a fixed policy, or by the planner.
 * The planner observes updates under every policy, so that hot objects can be shown, but decides
 * only under the adaptive one.
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
   * When the first window ends of each object that the planner has put into STATE mode. The planner
   * finds them at one moment, and a hot object's next window opens right after its last one, so all
   * would leave together for ever if their first windows did not differ. Not where cuts are marked:
   * there everything leaves together. Few objects are in STATE mode.
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

  /** Sets the keyspace's policy. Nothing may be held at this moment. */
  public void configure(KeyspacePolicy changed) {
    firstEndsNanos.clear(); // windows may have another length
    policy = changed.propagation();
    slaNanos = changed.sla().toNanos();
  }

  /** Sets how many other datacenters hold the keyspace. */
  public void setPeers(int count) {
    peers = count;
  }

  /**
   * Returns whether the next update, which is committed now, is held; if not, the object's held
   * updates leave with it. Called once for each update: the one that ends an object's first window
   * is not held.
   */
  public boolean holdsNext(ObjectId object, long nowNanos) {
    if (peers == 0 || modeOf(object) == Mode.OP) {
      return false; // no peers, or mode OP
    }
    Long ends = firstEndsNanos.get(object);
    if (ends == null || nowNanos < ends) {
      return true;
    }
    firstEndsNanos.remove(object);
    return false;
  }

  /**
   * Returns a part of a window, from none to all of it, that depends on the object's key and this
   * datacenter.
   */
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

  /** As {@link #why}, with the costs that a decision would compare now. */
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

  /** Takes note of how long handling received shipments took. */
  public void handled(int shipments, long nanos) {
    shipmentCost.handled(shipments, nanos);
  }

  /** Returns the measured cost of handling a shipment, in bytes that cost the same. */
  public double shipmentCost() {
    return shipmentCost.bytes();
  }

  /**
   * Decides modes if it is time. Returns the objects that go back to operations.
   *
   * @param holdNanos how long an update may be held
   */
  public List<ObjectId> decide(long nowNanos, LongSupplier holdNanos) {
    if (nowNanos < planner.nextDecisionNanos()) {
      return List.of();
    }
    // Under a fixed policy the planner measures, but finds nothing worth holding.
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
