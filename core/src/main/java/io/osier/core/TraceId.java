package io.osier.core;

import java.util.HexFormat;

/**
 * The trace of one update, identified as in W3C Trace Context.
 *
 * @param high the first 8 bytes of its id
 * @param low the last 8 bytes; never 0
 * @param root the id of the span of the update at its origin, which is the parent of all others;
 *     never 0
 */
public record TraceId(long high, long low, long root) {
  /** Returns the trace's id: 32 lower-case hexadecimal digits. */
  public String hex() {
    return hex(high) + hex(low);
  }

  /** Returns the root span's id: 16 lower-case hexadecimal digits. */
  public String rootHex() {
    return hex(root);
  }

  /** Returns an id of 8 bytes as 16 lower-case hexadecimal digits. */
  public static String hex(long id) {
    return HexFormat.of().toHexDigits(id);
  }
}
