package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;

/** The windows of a datacenter's links. */
@FunctionalInterface
public interface LinkWindows {
  /** Of partitions that have their links for themselves: each stream's own window is all. */
  LinkWindows NONE = dc -> LinkWindow.NONE;

  LinkWindow window(String dc);

  /** A sink that says what room its links have. */
  default FrameSink of(FrameSink sink) {
    return new FrameSink() {
      @Override
      public void send(ReplicaId to, Frame frame) {
        sink.send(to, frame);
      }

      @Override
      public LinkWindow window(String dc) {
        return LinkWindows.this.window(dc);
      }
    };
  }
}
