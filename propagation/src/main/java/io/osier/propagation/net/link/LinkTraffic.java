package io.osier.propagation.net.link;

import java.util.concurrent.atomic.LongAdder;

/** The bytes that the connections with one peer have carried, with their framing. Thread-safe. */
public final class LinkTraffic {
  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder written = new LongAdder();
  private final LongAdder saved = new LongAdder();

  public LinkTraffic() {}

  public long sentBytes() {
    return sent.sum();
  }

  public long receivedBytes() {
    return received.sum();
  }

  /** Bytes of what was said to the peer on connections to it, before they were compressed. */
  public long writtenBytes() {
    return written.sum();
  }

  /** So many bytes less were sent to the peer because they were compressed. */
  public long savedBytes() {
    return saved.sum();
  }

  void written(long bytes) {
    written.add(bytes);
  }

  void saved(long bytes) {
    saved.add(bytes);
  }

  void sent(long bytes) {
    sent.add(bytes);
  }

  void received(long bytes) {
    received.add(bytes);
  }
}
