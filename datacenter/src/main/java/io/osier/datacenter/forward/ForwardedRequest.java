package io.osier.datacenter.forward;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.protocol.Call;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Request;
import java.util.function.Consumer;

/**
 * A request that one datacenter sends another on behalf of a client: the asker, followed by the
 * request as a client would send it.
 *
 * @param lane the client's connection, whose requests are executed in their order; 0 for none
 * @param user whose rights count; empty for the asking datacenter's own process
 * @param id which the answer repeats
 * @param request the encoded request
 */
public record ForwardedRequest(long lane, String user, long id, WireInput request) {
  private static final int USER_BYTES_MAX = 1 << 10;

  static byte[] encode(long lane, String user, long id, Request request) {
    return WireOutput.bytesOf(
        out -> {
          out.writeNumber(lane);
          out.writeText(user);
          ProtocolCodec.start(out, id);
          Call.Script script = ForwardedScript.of(request);
          if (script != null) {
            ForwardedScript.write(out, script, (Request.Evaluate) request);
          } else if (request instanceof ProgressRequest.Spread spread) {
            ForwardedSpread.write(out, spread);
          } else {
            ProtocolCodec.writeBody(out, request);
          }
        });
  }

  /**
   * Encodes a question that a datacenter asks for itself.
   *
   * @param content writes the question in the place of a request
   */
  static byte[] encode(long id, Consumer<WireOutput> content) {
    return WireOutput.bytesOf(
        out -> {
          out.writeNumber(0);
          out.writeText("");
          ProtocolCodec.start(out, id);
          content.accept(out);
        });
  }

  /** Encodes the answer to such a question. */
  public static byte[] answer(long id, Consumer<WireOutput> content) {
    return WireOutput.bytesOf(
        out -> {
          ProtocolCodec.start(out, id);
          content.accept(out);
        });
  }

  /**
   * Decodes the asker.
   *
   * @throws MalformedException if the bytes name none: then nobody can be answered
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
   * Decodes the request, unless it is a {@link ForwardedScript}; once.
   *
   * @throws MalformedException if it is no request that is known here
   */
  public Request decoded() {
    return ForwardedScript.isNext(request, ForwardedSpread.KIND)
        ? ForwardedSpread.read(request)
        : ProtocolCodec.decodeRequestBody(request);
  }
}
