package io.osier.core.net;

/**
 * Frames on a TCP connection, of clients and of peers alike:
 *
 * <pre>
 *   +-----------------+----------------------+
 *   | length          | content              |
 *   | 4 bytes, big-e. | length bytes         |
 *   +-----------------+----------------------+
 * </pre>
 *
 * <p>A length over the limit closes the connection before anything is allocated for it.
 */
public final class Framing {
  /**
   * Largest frame between a client and a datacenter, in bytes: a value of the largest size, and its
   * head.
   */
  public static final int CLIENT_FRAME_BYTES_MAX = 65 << 20;

  /** The number of bytes of the length in front of a frame's content. */
  public static final int LENGTH_BYTES = 4;

  private Framing() {}

  /** Writes a content's length in front of it. */
  public static void putLength(byte[] bytes, int at, int length) {
    bytes[at] = (byte) (length >> 24);
    bytes[at + 1] = (byte) (length >> 16);
    bytes[at + 2] = (byte) (length >> 8);
    bytes[at + 3] = (byte) length;
  }

  /** Reads a content's length; one beyond an int's range is negative. */
  public static int getLength(byte[] bytes, int at) {
    return (bytes[at] & 0xff) << 24
        | (bytes[at + 1] & 0xff) << 16
        | (bytes[at + 2] & 0xff) << 8
        | (bytes[at + 3] & 0xff);
  }
}
