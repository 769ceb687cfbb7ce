package io.osier.propagation.net.link;

import java.util.concurrent.atomic.LongAdder;

/** The bytes that the connections with one peer have carried, with their framing. Thread-safe. */
public final class LinkTraffic {
  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();

  public LinkTraffic() {}

  /** Bytes sent to the peer. */
  public long sentBytes() {
    return sent.sum();
  }

  /** Bytes received from the peer. */
  public long receivedBytes() {
    return received.sum();
  }

  void sent(long bytes) {
    sent.add(bytes);
  }

  void received(long bytes) {
    received.add(bytes);
  }
}
