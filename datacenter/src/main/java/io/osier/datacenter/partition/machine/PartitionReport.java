package io.osier.datacenter.partition.machine;

import io.osier.adaptation.Planner;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.DelayHistogram;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.Timeliness;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * What a partition is doing: a copy, safe for any thread as long as nobody changes its histograms.
 * Counts are since the start of the process.
 *
 * @param partition its number in the keyspace
 * @param content what it holds
 * @param snapshots what is kept for those who read the past
 * @param rights what bounded counters wait for
 * @param modes what is shipped as states, and why
 * @param shipped what left for other datacenters
 * @param arrived what came from other datacenters
 * @param peers the other datacenters
 * @param memory what it uses of its budgets in the heap
 * @param about what was asked for of single objects
 */
public record PartitionReport(
    int partition,
    Content content,
    Snapshots snapshots,
    Rights rights,
    Modes modes,
    Shipped shipped,
    Arrived arrived,
    List<Peer> peers,
    List<Budget.Usage> memory,
    About about) {
  /**
   * What was asked for of single objects.
   *
   * @param parked how many requests of any object wait for what their sessions have seen elsewhere
   * @param objects those of which something waits, or is measured, in the order of the question
   */
  public record About(int parked, List<OneObject> objects) {}

  /**
   * What is known of an object.
   *
   * @param mode op or state
   * @param why it has that mode: what was counted, and what the decision compared
   * @param rightsWaiting how many of its updates wait for rights of a bounded counter
   */
  public record OneObject(
      ObjectId object, String mode, String why, int rightsWaiting, ObjectProgress progress) {}

  /**
   * What a partition holds.
   *
   * @param committed commit number of the last update here
   * @param objects how many objects it holds
   * @param forgottenObjects removed objects of which nothing is left here, since this incarnation
   *     began
   * @param removedObjects removed objects that wait until every datacenter has seen it
   * @param through what has come of every replica, this one included
   * @param unseen updates of this process that no other datacenter is known to have
   */
  public record Content(
      long committed,
      long objects,
      long forgottenObjects,
      int removedObjects,
      VersionVector through,
      long unseen) {}

  /**
   * What is kept for those who read the past; all 0 in a keyspace without transactions.
   *
   * @param openTransactions how many transactions are open, and hold a snapshot
   * @param formerVersions how many former values of keys are kept for snapshots and the history
   */
  public record Snapshots(int openTransactions, int formerVersions) {}

  /**
   * What bounded counters wait for.
   *
   * @param waiting how many updates of bounded counters wait for rights
   * @param denied how many have not got them
   */
  public record Rights(int waiting, long denied) {}

  /**
   * What is shipped as states.
   *
   * @param stateObjects how many objects are in STATE mode now
   * @param switches how many times an object changed its mode, by why
   * @param shipmentCost what the handling of a shipment costs for each receiver, as measured, in
   *     bytes on the links that are worth as much
   * @param hot the hottest objects, hottest first
   */
  public record Modes(
      int stateObjects, Map<Planner.Cause, Long> switches, double shipmentCost, List<Hot> hot) {
    /** How many times an object changed its mode. */
    public long switched() {
      return switches.values().stream().mapToLong(n -> n).sum();
    }
  }

  /**
   * What left for other datacenters.
   *
   * @param dirtyObjects how many objects have updates that are not yet shipped
   * @param bytes bytes of updates shipped, summed over the peers they went to
   * @param arrivedBytes those of them that the peers have acknowledged
   * @param opBytes bytes that what the peers have confirmed takes as single operations
   * @param ops operations shipped one by one, counted once for all peers
   * @param states objects shipped in rounds, counted once for all peers
   * @param catchUps objects shipped to peers that had missed something
   * @param coordinationMicros μ: the time set aside for a round, in microseconds
   */
  public record Shipped(
      int dirtyObjects,
      long bytes,
      long arrivedBytes,
      long opBytes,
      long ops,
      long states,
      long catchUps,
      long coordinationMicros) {}

  /**
   * What came from other datacenters.
   *
   * @param applied updates of other datacenters that were applied (joined ones counted one by one
   *     where their number is known)
   * @param waitingUpdates how many have come and wait for the rest of their cut, or for what it
   *     depends on
   * @param gapsSeen gaps in an object's updates or a stream that were seen and healed
   * @param healed objects received from a third datacenter
   * @param pulled large objects of which what was lacking was pulled from a peer
   * @param late shipments whose oldest update became visible here later than the staleness bound
   *     after its commit
   * @param visibilityMicros delays from the commit of the oldest update of each shipment until it
   *     was visible here, outages left out, in microseconds
   */
  public record Arrived(
      long applied,
      int waitingUpdates,
      long gapsSeen,
      long healed,
      long pulled,
      LateCounts late,
      Histogram visibilityMicros) {}

  /** Shipments that were late though the links were up. */
  public long slaViolations() {
    return arrived.late.violations();
  }

  /**
   * The datacenter that holds the horizon back: what it has not acknowledged must be kept in the
   * log. Empty if none does.
   */
  public Optional<String> heldBackBy() {
    return peers.stream()
        .filter(p -> p.to.lagUpdates > 0)
        .max(Comparator.comparingLong(p -> p.to.lagUpdates))
        .map(Peer::dc);
  }

  /**
   * The datacenters of which something is missing while other updates wait for the rest of their
   * cut: who may hold the cut back. Empty if nothing waits.
   */
  public List<String> cutHeldBackBy() {
    return arrived.waitingUpdates == 0
        ? List.of()
        : peers.stream().filter(p -> p.from.behindUpdates > 0).map(Peer::dc).toList();
  }

  /**
   * Another datacenter, as this partition sees it.
   *
   * @param incarnation 0 if it was never seen
   * @param connected whether frames can be sent to it
   * @param stream what the stream to it is doing: waiting, catching-up, streaming
   * @param to what goes to it
   * @param from what comes from it
   */
  public record Peer(
      String dc, long incarnation, boolean connected, String stream, To to, From from) {}

  /**
   * What goes to a peer.
   *
   * @param lagUpdates updates of this datacenter that it has not acknowledged
   * @param lagBytes what those of this life take as operations, at most
   * @param lagNanos for how long it lacks the first of them, at most; within this life
   * @param timeliness whether it gets updates in time
   * @param inFlightBytes bytes sent and not acknowledged
   * @param opBytes bytes of updates that were sent as single operations
   * @param stateBytes bytes of updates that were sent in rounds
   * @param catchUpBytes bytes of updates that were sent because it had missed them
   * @param roundTimes how long rounds took until it had acknowledged them
   */
  public record To(
      long lagUpdates,
      long lagBytes,
      long lagNanos,
      Timeliness timeliness,
      long inFlightBytes,
      long opBytes,
      long stateBytes,
      long catchUpBytes,
      DelayHistogram roundTimes) {}

  /**
   * What comes from a peer.
   *
   * @param has what it has of every replica, as its last status tells
   * @param behindUpdates updates of it that have not come here, as far as its last status tells
   * @param unheardNanos for how long nothing has come from it although something should
   * @param late shipments of it that became visible here too late
   * @param visibility how long its shipments took until they were visible here, outages left out
   */
  public record From(
      VersionVector has,
      long behindUpdates,
      long unheardNanos,
      LateCounts late,
      DelayHistogram visibility) {}

  /**
   * A hot object.
   *
   * @param mode op or state
   * @param updatesPerSecond its rate
   * @param objectBytes its size
   * @param opBytes the mean size of one operation
   * @param count how often it was updated in the window, at most
   * @param error by how much the count may be too high
   */
  public record Hot(
      ObjectId object,
      String mode,
      double updatesPerSecond,
      long objectBytes,
      double opBytes,
      long count,
      long error) {}
}
