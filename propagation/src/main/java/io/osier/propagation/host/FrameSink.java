package io.osier.propagation.host;

import io.osier.propagation.wire.Frame;

/** Where the streams put the frames they want sent. */
@FunctionalInterface
public interface FrameSink {
  /** Sends a frame to a datacenter; it is dropped if there is no connection. */
  void send(String dc, Frame frame);

  /** What room the link to a datacenter has. */
  default LinkWindow window(String dc) {
    return LinkWindow.NONE;
  }
}
