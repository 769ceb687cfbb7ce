package io.osier.datacenter.redis;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a large answer in pieces, as the client reads it: the whole answer as bytes would be in
 * memory a second time. Pure; for one thread at a time.
 */
public final class RespPieces {
  private final boolean resp3;

  /** The values still to be written: those of the innermost array first. */
  private final ArrayDeque<Iterator<RespValue>> left = new ArrayDeque<>();

  /** The bulk string that is written in part; null if there is none. */
  private byte @Nullable [] bulk;

  private int from;

  public RespPieces(RespValue value, boolean resp3) {
    this.resp3 = resp3;
    left.push(List.of(value).iterator());
  }

  /**
   * Writes until the encoder has so many bytes, or a few more; returns whether the answer is
   * complete.
   */
  public boolean writeTo(RespEncoder encoder, int bytes) {
    while (encoder.size() < bytes) {
      Iterator<RespValue> next = left.peek();
      byte[] begun = bulk;
      if (begun != null) {
        writeBulk(encoder, begun, bytes - encoder.size());
      } else if (next == null) {
        return true;
      } else if (next.hasNext()) {
        begin(encoder, next.next());
      } else {
        left.pop();
      }
    }
    return false;
  }

  private void begin(RespEncoder encoder, RespValue value) {
    switch (value) {
      case RespValue.Many v -> {
        encoder.head(v, resp3);
        left.push(v.values().iterator());
      }
      case RespValue.Bulk v -> begin(encoder, v.bytes());
      case RespValue.Text v -> begin(encoder, v.bytes());
      default -> encoder.write(value, resp3);
    }
  }

  private void begin(RespEncoder encoder, byte[] content) {
    encoder.bulkHead(content.length);
    bulk = content;
    from = 0;
  }

  private void writeBulk(RespEncoder encoder, byte[] content, int room) {
    int count = Math.min(room, content.length - from);
    encoder.bulkPart(content, from, count);
    from += count;
    if (from == content.length) {
      encoder.bulkEnd();
      bulk = null;
    }
  }
}
