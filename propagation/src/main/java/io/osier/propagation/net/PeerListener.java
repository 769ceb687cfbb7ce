package io.osier.propagation.net;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;

/**
 * Hears of peers; each method does nothing unless it is overridden. Called by the transport's
 * threads; must not block.
 */
public interface PeerListener {
  /**
   * The peer has let this datacenter in: frames of these keyspaces can be sent to it from now on.
   *
   * @param keyspaces those that both hold and see alike; none is said of, too
   */
  default void up(ReplicaId peer, List<String> keyspaces) {}

  /**
   * The peer and this datacenter have compared their keyspaces. One of them has let the other one
   * in; whether that is this one, {@link #up} says.
   *
   * @param differing those that are not replicated between them, with what differs, in words; empty
   *     if there are none
   */
  default void compared(String dc, Map<String, String> differing) {}

  /** Frames can no longer be sent to the datacenter. */
  default void down(String dc) {}

  /**
   * Frames of these keyspaces can no longer be sent to the datacenter: one of the two holds them no
   * more, or otherwise than before. The connection stays.
   */
  default void parted(String dc, List<String> keyspaces) {}

  /** A frame has come. Frames of one peer come in the order in which they were sent. */
  default void received(ReplicaId peer, String keyspace, int partition, Frame frame) {}

  /**
   * All frames of a peer that had come by now were handed over: what waits for more of them need
   * not. Also said where there was none.
   */
  default void receivedAll(ReplicaId peer) {}

  /**
   * A note has come that {@link PeerTransport#note} sent.
   *
   * @param content at most {@link PeerTransport#NOTE_BYTES_MAX} bytes
   */
  default void noted(ReplicaId peer, byte[] content) {}

  /** Takes answers to what a peer asks. Thread-safe. */
  @FunctionalInterface
  interface Answers {
    /**
     * Sends an answer over the connection on which was asked; it is dropped if that has ended.
     *
     * @param left is run when the answer waits no more, by any thread
     */
    void send(byte[] content, Runnable left);
  }

  /** A peer forwards a request, with {@link PeerTransport#ask}. */
  default void asked(ReplicaId peer, byte[] content, Answers answers) {}

  /**
   * An answer to {@link PeerTransport#ask} has come. What was asked before {@link #down} is not
   * answered after it.
   */
  default void answered(ReplicaId peer, byte[] content) {}

  /**
   * A peer talks to another process that bears this one's name, or cannot tell which of the two was
   * first; until it is {@link #up}, or {@link #secondEnds}, nothing may be acknowledged here. The
   * other one has a copy of this one's store, or is of a former incarnation: then it may be this
   * one's own former life, whose connection has not ended yet.
   *
   * @param why in words, with the addresses and the starts of both, or their incarnations
   */
  default void second(String dc, String why) {}

  /**
   * What {@link #second} has told of a former incarnation does not count any more: the peer has not
   * repeated it for a while, so it is out of reach, or it is dialled elsewhere from now on.
   */
  default void secondEnds(String dc) {}

  /**
   * A peer will not accept this datacenter as it is configured or named, until it is {@link #up}.
   * With DUPLICATE_DC the process should stop.
   */
  default void rejected(String dc, OsierException why) {}
}
