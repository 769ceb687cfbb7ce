package io.osier.core.net;

import io.netty.handler.codec.TooLongFrameException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** The bytes that came on a port are no frame, and look like another protocol. */
public final class StrangeProtocol extends TooLongFrameException {
  private static final long serialVersionUID = 1;

  /** The first four bytes of requests and answers of HTTP. */
  private static final Set<String> HTTP =
      Set.of(
          "GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI ", "HTTP");

  private final boolean isHttp;

  private StrangeProtocol(String why, boolean isHttp) {
    super(why);
    this.isHttp = isHttp;
  }

  /** Whether they look like HTTP. */
  public boolean isHttp() {
    return isHttp;
  }

  /** Whether bytes look like the beginning of a TLS connection. */
  public static boolean isTls(int first, int second) {
    return first == 0x16 && second == 0x03; // a handshake record, and the first half of the version
  }

  /**
   * Returns why a frame is not accepted.
   *
   * @param length the number in its first four bytes
   * @param max the largest length that is accepted
   */
  static TooLongFrameException tooLong(int length, int max) {
    byte[] first = ByteBuffer.allocate(Integer.BYTES).putInt(length).array();
    if (HTTP.contains(new String(first, StandardCharsets.US_ASCII))) {
      return new StrangeProtocol(
          "it looks like HTTP, which this port does not speak: the page and the metrics are at"
              + " osier.admin.port",
          true);
    }
    if (isTls(first[0], first[1])) {
      return new StrangeProtocol(
          "it looks like TLS, which is not on here: set osier.tls.certificate, or connect without",
          false);
    }
    return new TooLongFrameException(
        "a frame of " + (length & 0xffffffffL) + " bytes is over the limit " + max);
  }
}
