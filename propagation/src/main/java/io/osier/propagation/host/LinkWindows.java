package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.propagation.wire.Frame;

/** The windows of a datacenter's links. */
@FunctionalInterface
public interface LinkWindows {
  /** For partitions that have their links for themselves: only each stream's own window counts. */
  LinkWindows NONE = dc -> LinkWindow.NONE;

  LinkWindow window(String dc);

  /** Returns a sink that sends through {@code sink} and has these windows. */
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
