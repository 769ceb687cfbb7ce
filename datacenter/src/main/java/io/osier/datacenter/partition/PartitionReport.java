package io.osier.datacenter.partition;

import io.osier.core.Budget;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.Late;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * What a partition is doing: a copy, safe for any thread. Counts are since the start of the
 * process.
 *
 * @param partition its number in the keyspace
 * @param committed commit number of the last update here
 * @param objects how many objects it holds
 * @param forgottenObjects removed objects of which nothing is left here, since this incarnation
 *     began
 * @param removedObjects removed objects that wait until every datacenter has seen it
 * @param dirtyObjects how many have updates not yet shipped
 * @param waitingUpdates how many have come and wait for the rest of their cut, or for what it
 *     depends on
 * @param openTransactions how many transactions are open, and hold a snapshot
 * @param formerVersions how many former values of keys are kept for snapshots and the history
 * @param rightsWaiting how many updates of bounded counters wait for rights
 * @param rightsDenied how many have not got them
 * @param stateObjects how many are in STATE mode now
 * @param modeSwitches how many times an object changed its mode
 * @param shipmentCost what the handling of a shipment costs for each receiver, as measured, in
 *     bytes on the links that are worth as much
 * @param appliedRemote updates of other datacenters that were applied (joined ones counted one by
 *     one where their number is known)
 * @param shippedBytes bytes of updates shipped, summed over the peers they went to
 * @param opBytes bytes that the same updates take as single operations, to the same peers
 * @param opsShipped operations shipped one by one, counted once for all peers
 * @param statesShipped objects shipped in rounds, counted once for all peers
 * @param catchUpsShipped objects shipped to peers that had missed something
 * @param gapsSeen gaps in an object's updates or a stream that were seen and healed
 * @param healed objects received from a third datacenter
 * @param late shipments whose oldest update became visible here later than the staleness bound
 *     after its commit
 * @param visibilityMicros delays from the commit of the oldest update of each shipment until it was
 *     visible here, outages left out, in microseconds
 * @param coordinationMicros μ: the time set aside for a round, in microseconds
 * @param through what has come of every replica, this one included
 * @param peers the other datacenters
 * @param memory what it uses of its budgets in the heap
 * @param hot the hottest objects, hottest first
 */
public record PartitionReport(
    int partition,
    long committed,
    long objects,
    long forgottenObjects,
    int removedObjects,
    int dirtyObjects,
    int waitingUpdates,
    int openTransactions,
    int formerVersions,
    int rightsWaiting,
    long rightsDenied,
    int stateObjects,
    long modeSwitches,
    double shipmentCost,
    long appliedRemote,
    long shippedBytes,
    long opBytes,
    long opsShipped,
    long statesShipped,
    long catchUpsShipped,
    long gapsSeen,
    long healed,
    Late late,
    Histogram visibilityMicros,
    long coordinationMicros,
    VersionVector through,
    List<Peer> peers,
    List<Budget.Usage> memory,
    List<Hot> hot) {

  /** Shipments that were late though the links were up. */
  public long slaViolations() {
    return late.violations();
  }

  /**
   * The datacenter that holds the horizon back: what it has not acknowledged must be kept in the
   * log. Empty if none does.
   */
  public Optional<String> heldBackBy() {
    return peers.stream()
        .filter(p -> p.lagUpdates() > 0)
        .max(Comparator.comparingLong(Peer::lagUpdates))
        .map(Peer::dc);
  }

  /**
   * Another datacenter, as this partition sees it.
   *
   * @param dc its name
   * @param incarnation 0 if it was never seen
   * @param connected whether frames can be sent to it
   * @param stream what the stream to it is doing: waiting, catching-up, streaming
   * @param lagUpdates updates of this datacenter that it has not acknowledged
   * @param inFlightBytes bytes sent and not acknowledged
   * @param behindUpdates updates of it that have not come here, as far as its last status tells
   */
  public record Peer(
      String dc,
      long incarnation,
      boolean connected,
      String stream,
      long lagUpdates,
      long inFlightBytes,
      long behindUpdates) {}

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
