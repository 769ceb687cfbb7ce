package io.osier.propagation.net;

import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.LinkWindows;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The windows of links that all partitions of a datacenter share. Thread-safe. */
public final class SharedWindows implements LinkWindows {
  private final long bytesMax;
  private final Map<String, Shared> windows = new ConcurrentHashMap<>();

  /**
   * @param bytesMax the most bytes in flight to one peer, beside each stream's small share
   */
  public SharedWindows(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  private static final class Shared implements LinkWindow {
    private final long bytesMax;
    private final AtomicLong inFlight = new AtomicLong();

    Shared(long bytesMax) {
      this.bytesMax = bytesMax;
    }

    @Override
    public boolean isOpen() {
      return inFlight.get() < bytesMax;
    }

    @Override
    public void take(long bytes) {
      inFlight.addAndGet(bytes);
    }

    @Override
    public void give(long bytes) {
      inFlight.addAndGet(-bytes);
    }
  }

  @Override
  public LinkWindow window(String dc) {
    return windows.computeIfAbsent(dc, d -> new Shared(bytesMax));
  }

  /** Returns by peer how many bytes were sent and not acknowledged. */
  public Map<String, Long> inFlightBytes() {
    Map<String, Long> bytes = new TreeMap<>();
    windows.forEach((dc, window) -> bytes.put(dc, window.inFlight.get()));
    return bytes;
  }
}
