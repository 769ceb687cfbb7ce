package io.osier.propagation;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The windows of a datacenter's links, which all of its partitions share. Thread-safe. */
public final class LinkWindows {
  /** Partitions that have their links for themselves: each stream's own window is all. */
  public static final LinkWindows NONE = new LinkWindows(Long.MAX_VALUE);

  private final long bytesMax;
  private final Map<String, LinkWindow> windows = new ConcurrentHashMap<>();

  /**
   * Of links that are idle.
   *
   * @param bytesMax most bytes under way to one peer, beside each stream's small share
   */
  public LinkWindows(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** A sink that says what room its links have. */
  public FrameSink of(FrameSink sink) {
    return new FrameSink() {
      @Override
      public void send(String dc, Frame frame) {
        sink.send(dc, frame);
      }

      @Override
      public LinkWindow window(String dc) {
        return LinkWindows.this.window(dc);
      }
    };
  }

  private LinkWindow window(String dc) {
    return bytesMax == Long.MAX_VALUE
        ? LinkWindow.NONE
        : windows.computeIfAbsent(dc, d -> new LinkWindow(bytesMax));
  }

  /** By peer, what was sent and not acknowledged, in bytes. */
  public Map<String, Long> inFlightBytes() {
    Map<String, Long> bytes = new TreeMap<>();
    windows.forEach((dc, window) -> bytes.put(dc, window.inFlightBytes()));
    return bytes;
  }
}
