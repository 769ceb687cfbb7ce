package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;

/** Where the streams put the frames they want sent. */
@FunctionalInterface
public interface FrameSink {
  /**
   * Sends a frame to an incarnation of a datacenter; it is dropped if that is not connected.
   * Another one would take it for its own, since it may count its epochs and requests alike.
   */
  void send(ReplicaId to, Frame frame);

  /** What room the link to a datacenter has. */
  default LinkWindow window(String dc) {
    return LinkWindow.NONE;
  }
}
