package io.osier.datacenter.partition;

import io.osier.core.KeyspacePolicy;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.partition.mode.ModeControl;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.propagation.PeerProgress;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes reports of what a partition is doing. Not thread-safe. */
final class PartitionReports {
  private final int partition;
  private final PartitionObjects objects;
  private final Sequencer sequencer;
  private final ModeControl modes;
  private final Propagation propagation;
  private final Escrow escrow;
  private final Commands commands;
  private final @Nullable Transactions transactions;

  PartitionReports(
      int partition,
      PartitionObjects objects,
      Sequencer sequencer,
      ModeControl modes,
      Propagation propagation,
      Escrow escrow,
      Commands commands,
      @Nullable Transactions transactions) {
    this.partition = partition;
    this.objects = objects;
    this.sequencer = sequencer;
    this.modes = modes;
    this.propagation = propagation;
    this.escrow = escrow;
    this.commands = commands;
    this.transactions = transactions;
  }

  /**
   * Returns the report that was asked for.
   *
   * @param policy the keyspace's present policy
   */
  PartitionReport of(Input.Inspect asked, KeyspacePolicy policy, Now now) {
    PropagationStats stats = propagation.stats();
    return new PartitionReport(
        partition,
        new PartitionReport.Content(
            sequencer.committed(),
            objects.store().size(),
            objects.store().forgotten(),
            objects.forgetting().candidates(),
            propagation.here(),
            propagation.status().unseen()),
        new PartitionReport.Snapshots(
            transactions == null ? 0 : transactions.openCount(), objects.past().versions()),
        new PartitionReport.Rights(escrow.waiters().size(), escrow.denied()),
        new PartitionReport.Modes(
            modes.stateObjects(),
            modes.switches(),
            modes.shipmentCost(),
            modes.hot(asked.hotLimit())),
        new PartitionReport.Shipped(
            propagation.outbound().dirtyObjects(),
            stats.shippedBytes(),
            stats.arrivedBytes(),
            stats.opBytes(),
            stats.opsShipped(),
            stats.statesShipped(),
            stats.catchUpsShipped(),
            propagation.outbound().rounds().coordinationNanos() / 1_000),
        new PartitionReport.Arrived(
            stats.appliedRemote(),
            propagation.waitingUpdates(),
            stats.gapsSeen(),
            stats.healedObjects(),
            stats.pulledObjects(),
            stats.late(),
            stats.visibilityMicros()),
        propagation.status().peers(now.nanos()).stream()
            .map(peer -> report(peer, policy.sla().toMillis()))
            .toList(),
        memory(),
        new PartitionReport.About(
            commands.parked(), asked.about().stream().flatMap(o -> about(o, now)).toList()));
  }

  /** Returns what is known of an object; empty if nothing is. */
  private Stream<PartitionReport.OneObject> about(ObjectId object, Now now) {
    PartitionReport.OneObject one =
        new PartitionReport.OneObject(
            object,
            modes.modeOf(object).label(),
            modes.explain(object, propagation.outbound().rounds().holdNanos()),
            escrow.waiters().size(object),
            propagation.progress(object, now.nanos()));
    boolean isKnown =
        modes.isMeasured(object) || one.rightsWaiting() > 0 || !one.progress().isDone();
    return isKnown ? Stream.of(one) : Stream.empty();
  }

  List<Budget.Usage> memory() {
    List<Budget.Usage> open = transactions == null ? List.of() : transactions.memory();
    return Stream.of(propagation.memory(), objects.past().memory(), open)
        .flatMap(List::stream)
        .toList();
  }

  private PartitionReport.Peer report(PeerProgress peer, long slaMillis) {
    PropagationStats stats = propagation.stats();
    return new PartitionReport.Peer(
        peer.dc(),
        peer.incarnation(),
        peer.connected(),
        peer.stream(),
        new PartitionReport.To(
            peer.lag().updates(),
            peer.lag().bytes(),
            peer.lag().nanos(),
            peer.timeliness(),
            peer.inFlightBytes(),
            peer.sentBytes().getOrDefault(Frame.Kind.OPS, 0L),
            peer.sentBytes().getOrDefault(Frame.Kind.ROUND, 0L),
            peer.sentBytes().getOrDefault(Frame.Kind.CATCH_UP, 0L),
            peer.roundTimes()),
        new PartitionReport.From(
            peer.has(),
            peer.behindUpdates(),
            peer.unheardNanos(),
            peer.aheadMillis(),
            stats.late(peer.dc()),
            stats.delays(peer.dc(), slaMillis)));
  }
}
