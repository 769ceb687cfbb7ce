package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;

/** Takes the frames that the streams want sent. */
@FunctionalInterface
public interface FrameSink {
  /**
   * Sends a frame to an incarnation of a datacenter; drops it if another one is connected, or none.
   * The other one would mistake it for a frame of its own, since it may use the same epochs and
   * request numbers.
   */
  void send(ReplicaId to, Frame frame);

  /** Returns the window of the link to a datacenter. */
  default LinkWindow window(String dc) {
    return LinkWindow.NONE;
  }
}
