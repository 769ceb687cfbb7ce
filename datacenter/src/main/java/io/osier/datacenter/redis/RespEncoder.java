package io.osier.datacenter.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes answers, one behind the other, as bytes of RESP3, or of RESP2 for clients that have not
 * asked for RESP3. Pure; for one thread at a time.
 */
public final class RespEncoder {
  private static final int FIRST_BYTES = 1 << 10;

  /** The digits of a long and its sign. */
  private static final int LONG_BYTES = 20;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int size;

  public int size() {
    return size;
  }

  /**
   * Returns the array with the written bytes, from 0 to {@link #size}; the next call may change it.
   */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * Forgets the written bytes.
   *
   * @param keepMax a buffer with more bytes is given up
   */
  public void clear(int keepMax) {
    size = 0;
    if (bytes.length > keepMax) {
      bytes = new byte[FIRST_BYTES];
    }
  }

  /**
   * Writes an answer.
   *
   * @throws IllegalStateException if an array has no room for it; drop the bytes written since then
   */
  public void write(RespValue value, boolean resp3) {
    switch (value) {
      case RespValue.Simple v -> line('+', v.text());
      case RespValue.Err v -> line('-', v.text());
      case RespValue.Int v -> number(':', v.value());
      case RespValue.Bulk v -> bulk(v.bytes());
      case RespValue.Text v -> bulk(v.bytes());
      case RespValue.Null v -> raw(resp3 ? "_\r\n" : "$-1\r\n");
      case RespValue.Encoded v -> bulkPart(v.bytes(), 0, v.bytes().length);
      case RespValue.NullArray v -> raw(resp3 ? "_\r\n" : "*-1\r\n");
      case RespValue.Many v -> {
        head(v, resp3);
        for (RespValue each : v.values()) {
          write(each, resp3);
        }
      }
    }
  }

  /** Writes the line in front of several values: their kind and their number. */
  void head(RespValue.Many all, boolean resp3) {
    char kind =
        switch (all) {
          case RespValue.Pairs v when resp3 -> '%';
          case RespValue.Elements v when resp3 -> '~';
          case RespValue.Push v when resp3 -> '>';
          default -> '*';
        };
    number(kind, kind == '%' ? all.values().size() / 2 : all.values().size());
  }

  private void bulk(byte[] content) {
    bulkHead(content.length);
    bulkPart(content, 0, content.length);
    bulkEnd();
  }

  void bulkHead(int length) {
    number('$', length);
  }

  void bulkPart(byte[] content, int from, int count) {
    room(count);
    System.arraycopy(content, from, bytes, size, count);
    size += count;
  }

  void bulkEnd() {
    room(2);
    end();
  }

  /** Writes a line, with blanks for the line ends in its text. */
  private void line(char kind, String text) {
    byte[] content = text.getBytes(StandardCharsets.UTF_8);
    room(content.length + 3L);
    bytes[size++] = (byte) kind;
    for (byte b : content) {
      bytes[size++] = b == '\r' || b == '\n' ? (byte) ' ' : b;
    }
    end();
  }

  private void number(char kind, long value) {
    room(LONG_BYTES + 3L);
    bytes[size++] = (byte) kind;
    if (value < 0) {
      bytes[size++] = '-';
    }
    int digits = 1;
    for (long rest = value / 10; rest != 0; rest /= 10) {
      digits++;
    }
    long rest = value;
    for (int i = size + digits - 1; i >= size; i--) {
      bytes[i] = (byte) ('0' + Math.abs(rest % 10));
      rest /= 10;
    }
    size += digits;
    end();
  }

  private void raw(String text) {
    room(text.length());
    for (int i = 0; i < text.length(); i++) {
      bytes[size++] = (byte) text.charAt(i);
    }
  }

  private void end() {
    bytes[size++] = '\r';
    bytes[size++] = '\n';
  }

  private void room(long more) {
    long wanted = size + more;
    if (wanted > bytes.length) {
      if (wanted > Integer.MAX_VALUE - 8) {
        throw new IllegalStateException("an answer of more than 2 GiB");
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8L, 2 * wanted));
    }
  }
}
