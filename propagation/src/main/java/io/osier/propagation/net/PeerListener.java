package io.osier.propagation.net;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;

/**
 * Is told of peers; each method does nothing unless it is overridden. Called by the transport's
 * threads; must not block.
 */
public interface PeerListener {
  /**
   * The peer has accepted this datacenter: frames of these keyspaces can be sent to it from now on.
   *
   * @param keyspaces those that both hold and agree on; may be empty
   */
  default void up(ReplicaId peer, List<String> keyspaces) {}

  /**
   * The peer and this datacenter have compared their keyspaces. One of the two has accepted the
   * other; {@link #up} says whether the peer has accepted this one.
   *
   * @param differing the keyspaces that are not replicated between them, with the difference in
   *     words; empty if there are none
   */
  default void compared(String dc, Map<String, String> differing) {}

  /** Frames can no longer be sent to the datacenter. */
  default void down(String dc) {}

  /**
   * Frames of these keyspaces can no longer be sent to the datacenter: one of the two no longer
   * holds them, or has changed them. The connection stays.
   */
  default void parted(String dc, List<String> keyspaces) {}

  /** A frame was received. Frames of one peer are reported in the order in which they were sent. */
  default void received(ReplicaId peer, String keyspace, int partition, Frame frame) {}

  /**
   * All frames of a peer that had come by now were handed over, so that nothing need wait for more
   * of them. Also called if there was none.
   */
  default void receivedAll(ReplicaId peer) {}

  /**
   * A note was received that {@link PeerTransport#note} sent.
   *
   * @param content at most {@link PeerTransport#NOTE_BYTES_MAX} bytes
   */
  default void noted(ReplicaId peer, byte[] content) {}

  /** Sends answers to a peer's requests. Thread-safe. */
  @FunctionalInterface
  interface Answers {
    /**
     * Sends an answer over the connection on which the request came; the answer is dropped if that
     * has ended.
     *
     * @param left is run, by any thread, when the answer no longer waits to leave
     */
    void send(byte[] content, Runnable left);
  }

  /** A peer forwards a client's request, with {@link PeerTransport#ask}. */
  default void asked(ReplicaId peer, byte[] content, Answers answers) {}

  /**
   * An answer to {@link PeerTransport#ask} has come. Requests from before {@link #down} are not
   * answered after it.
   */
  default void answered(ReplicaId peer, byte[] content) {}

  /**
   * A peer is connected to another process with this one's name, or cannot tell which of the two
   * was first. Until the peer is {@link #up}, or {@link #secondEnds}, nothing may be acknowledged
   * here. The other process has a copy of this one's store, or is of a former incarnation: then it
   * may be this datacenter's own former life, whose connection has not ended yet.
   *
   * @param why in words, with the addresses and starts of both, or their incarnations
   */
  default void second(String dc, String why) {}

  /**
   * The last {@link #second} about a former incarnation does not count any more: the peer has not
   * repeated it for a while, so it is out of reach, or it is dialled at another address from now
   * on.
   */
  default void secondEnds(String dc) {}

  /**
   * A peer refuses this datacenter as it is configured or named, until it is {@link #up}. With
   * DUPLICATE_DC the process should stop.
   */
  default void rejected(String dc, OsierException why) {}
}
