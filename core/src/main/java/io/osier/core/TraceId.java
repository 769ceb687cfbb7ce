package io.osier.core;

import java.util.HexFormat;

/**
 * The trace of one update, as W3C Trace Context names traces.
 *
 * @param high the first 8 bytes of its id
 * @param low the last 8 bytes; never 0
 * @param root the id of the span of the update at its origin, below which all others hang; never 0
 */
public record TraceId(long high, long low, long root) {
  /** The trace's id: 32 lower-case hexadecimal digits. */
  public String hex() {
    return hex(high) + hex(low);
  }

  /** The root span's id: 16 digits. */
  public String rootHex() {
    return hex(root);
  }

  /** An id of 8 bytes as 16 lower-case hexadecimal digits. */
  public static String hex(long id) {
    return HexFormat.of().toHexDigits(id);
  }
}
