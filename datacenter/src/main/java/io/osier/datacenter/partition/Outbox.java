package io.osier.datacenter.partition;

import io.osier.crdt.Causal;
import io.osier.propagation.Frame;
import io.osier.propagation.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.TransactionId;

/**
 * What a {@link Partition} wants done. The shell must carry out, in order, whatever was asked for
 * while one batch of inputs was handled, and hold replies and frames back until every record
 * appended before them is durable (invariant I5).
 */
public interface Outbox {
  /** Answers a command. */
  void reply(long ticket, Reply reply);

  /**
   * Sends a frame to a datacenter; dropped if it is not connected any more, which the streams
   * recover from.
   */
  void send(String dc, Frame frame);

  /** Answers an {@link Input.Inspect}; waits for no record. */
  void report(long ticket, PartitionReport report);

  /**
   * Writes one applied update, local or remote, to the journal.
   *
   * @param state the object with it
   */
  void append(Shipment update, Causal state);

  /**
   * Writes to the journal that a transaction's updates are among those appended, so that its commit
   * is known if it is sent again.
   *
   * @param number the last commit number of it
   */
  void committed(TransactionId transaction, long number);
}
