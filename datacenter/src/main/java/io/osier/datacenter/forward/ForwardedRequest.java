package io.osier.datacenter.forward;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Request;

/**
 * What one datacenter asks another on behalf of a client: who asks, and behind it the request as a
 * client would send it.
 *
 * @param lane the client's connection, whose requests are done in their order; 0 for none
 * @param user whose rights count; empty for the asking datacenter's own process
 * @param id which the answer repeats
 * @param request what is still encoded of it
 */
public record ForwardedRequest(long lane, String user, long id, WireInput request) {
  private static final int USER_BYTES_MAX = 1 << 10;

  /** The bytes of a request. */
  static byte[] encode(long lane, String user, long id, Request request) {
    return WireOutput.bytesOf(
        out -> {
          out.writeNumber(lane);
          out.writeText(user);
          ProtocolCodec.write(out, id, request);
        });
  }

  /**
   * Decodes who asks.
   *
   * @throws MalformedException if the bytes are none: then nobody can be answered
   */
  public static ForwardedRequest decode(byte[] content) {
    WireInput in = new WireInput(content);
    return Codec.decode(
        "a forwarded request",
        () -> {
          long lane = in.readNumber();
          String user = in.readText(USER_BYTES_MAX);
          return new ForwardedRequest(lane, user, ProtocolCodec.decodeId(in), in);
        });
  }

  /**
   * Decodes what is asked; once.
   *
   * @throws MalformedException if it is no request that is known here
   */
  public Request decoded() {
    return ProtocolCodec.decodeRequestBody(request);
  }
}
