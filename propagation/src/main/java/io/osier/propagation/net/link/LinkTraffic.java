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

  /** Returns the bytes that were written on connections to the peer, before compression. */
  public long writtenBytes() {
    return written.sum();
  }

  /** Returns how many bytes compression has saved. */
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
