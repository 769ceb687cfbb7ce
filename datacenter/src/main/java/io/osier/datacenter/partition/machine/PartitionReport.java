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
 * @param content its objects and updates
 * @param snapshots former values and transactions
 * @param rights updates of bounded counters that wait for rights
 * @param modes which objects are in STATE mode, and why
 * @param shipped updates shipped to other datacenters
 * @param arrived updates received from other datacenters
 * @param peers the other datacenters
 * @param memory the use of its budgets of heap
 * @param about the single objects that were asked for
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
   * The single objects that were asked for.
   *
   * @param parked how many requests of any object wait for what their sessions have seen elsewhere
   * @param objects those of the objects that have updates waiting or are measured, in the order of
   *     the request
   */
  public record About(int parked, List<OneObject> objects) {}

  /**
   * What is known of an object.
   *
   * @param mode op or state
   * @param why it has that mode: the counts, and the costs that the decision compared
   * @param rightsWaiting how many of its updates wait for rights of a bounded counter
   */
  public record OneObject(
      ObjectId object, String mode, String why, int rightsWaiting, ObjectProgress progress) {}

  /**
   * The objects and updates of a partition.
   *
   * @param committed commit number of the last update here
   * @param objects how many objects there are
   * @param forgottenObjects removed objects that were dropped since this incarnation began
   * @param removedObjects removed objects that wait until every datacenter has seen the removal
   * @param through the highest number of each replica, this one included, up to which all updates
   *     are here
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
   * Former values and transactions; all 0 in a keyspace without transactions.
   *
   * @param openTransactions how many transactions are open, each with a snapshot
   * @param formerVersions how many former values of keys are kept for snapshots and the history
   */
  public record Snapshots(int openTransactions, int formerVersions) {}

  /**
   * Updates of bounded counters and the rights they need.
   *
   * @param waiting how many updates wait for rights
   * @param denied how often an update lacked rights
   */
  public record Rights(int waiting, long denied) {}

  /**
   * Which objects are in STATE mode, and why.
   *
   * @param stateObjects how many objects are in STATE mode now
   * @param switches how many times an object changed its mode, by cause
   * @param shipmentCost the measured cost of handling a shipment at one receiver, as the number of
   *     bytes on the links that cost the same
   * @param hot the hottest objects, hottest first
   */
  public record Modes(
      int stateObjects, Map<Planner.Cause, Long> switches, double shipmentCost, List<Hot> hot) {
    /** Returns how many times an object changed its mode. */
    public long switched() {
      return switches.values().stream().mapToLong(n -> n).sum();
    }
  }

  /**
   * Updates shipped to other datacenters.
   *
   * @param dirtyObjects how many objects have updates that are not yet shipped
   * @param bytes bytes of updates shipped, summed over the peers they went to
   * @param arrivedBytes those of them that the peers have acknowledged
   * @param opBytes bytes that the acknowledged updates would take as single operations
   * @param ops operations shipped one by one, counted once for all peers
   * @param states objects shipped in rounds, counted once for all peers
   * @param catchUps objects shipped to peers that had missed updates
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
   * Updates received from other datacenters.
   *
   * @param applied updates of other datacenters that were applied (joined ones counted one by one
   *     where their number is known)
   * @param waitingUpdates how many updates have come and wait for the rest of their cut, or for
   *     updates that it depends on
   * @param gapsSeen gaps in an object's updates or a stream that were found and repaired
   * @param healed objects received from a third datacenter
   * @param pulled large objects whose missing entries were pulled from a peer
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

  /** Returns how many shipments were late though the links were up. */
  public long slaViolations() {
    return arrived.late.violations();
  }

  /**
   * Returns the datacenter that holds the log's horizon back: updates that it has not acknowledged
   * must be kept. Empty if there is none.
   */
  public Optional<String> heldBackBy() {
    return peers.stream()
        .filter(p -> p.to.lagUpdates > 0)
        .max(Comparator.comparingLong(p -> p.to.lagUpdates))
        .map(Peer::dc);
  }

  /**
   * Returns the datacenters that may hold a cut back: some of their updates are missing while other
   * updates wait for the rest of their cut. Empty if none wait.
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
   * @param stream the state of the stream to it: waiting, catching-up, streaming
   * @param to updates shipped to it
   * @param from updates received from it
   */
  public record Peer(
      String dc, long incarnation, boolean connected, String stream, To to, From from) {}

  /**
   * Updates shipped to a peer.
   *
   * @param lagUpdates updates of this datacenter that it has not acknowledged
   * @param lagBytes the most bytes that those of this process take as operations
   * @param lagNanos for how long at most it has lacked the first of them; within this process
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
   * Updates received from a peer.
   *
   * @param has the peer's version vector in its last status
   * @param behindUpdates updates of the peer that have not come here, by its last status
   * @param unheardNanos for how long the peer has been silent when something should have come
   * @param aheadMillis by how many milliseconds its clock is ahead of the one here, at least
   * @param late shipments of it that became visible here too late
   * @param visibility how long its shipments took until they were visible here, outages left out
   */
  public record From(
      VersionVector has,
      long behindUpdates,
      long unheardNanos,
      long aheadMillis,
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
