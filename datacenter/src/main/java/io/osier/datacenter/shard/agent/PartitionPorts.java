package io.osier.datacenter.shard.agent;

import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.wire.Frame;

/**
 * What a partition is connected with.
 *
 * @param name for messages
 * @param store its objects
 * @param journal takes its records
 * @param sender takes its frames
 */
public record PartitionPorts(
    String name, Machine machine, ObjectStore store, Journal journal, Sender sender) {
  /** Sends a frame to an incarnation of a datacenter; it may be dropped. */
  @FunctionalInterface
  public interface Sender {
    /** Sends a frame, without waiting and without running a partition. */
    void send(ReplicaId to, Frame frame);

    /** Takes visible changes while somebody watches; as quickly as {@link #send}. */
    default void visible(Effects.Visible visible) {}

    /** Has an answer made, or refused, if possible by another thread. */
    default void later(PendingAnswer answer) {
      answer.run();
    }
  }
}
