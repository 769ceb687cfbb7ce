package io.osier.protocol;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;

/**
 * Encodes requests and replies: format version, id, type, fields. Checks every length against the
 * bytes that are left. Thread-safe.
 */
public final class ProtocolCodec {
  private ProtocolCodec() {}

  /** Encodes a request with its id. */
  public static byte[] encode(long id, Request request) {
    return WireOutput.bytesOf(out -> write(out, id, request));
  }

  public static byte[] encode(long id, Reply reply) {
    return WireOutput.bytesOf(out -> write(out, id, reply));
  }

  /** Writes a request with its id, as a record of its own. */
  public static void write(WireOutput out, long id, Request request) {
    start(out, id);
    RequestCodec.write(out, request);
  }

  /** Writes a reply with the id of its request, as a record of its own. */
  public static void write(WireOutput out, long id, Reply reply) {
    start(out, id);
    ReplyCodec.write(out, reply);
  }

  /** Writes a request after {@link #start}. */
  public static void writeBody(WireOutput out, Request request) {
    RequestCodec.write(out, request);
  }

  /** Begins a message of any kind as a record of its own. */
  public static void start(WireOutput out, long id) {
    out.startRecord();
    Codec.writeVersion(out);
    out.writeNumber(id);
  }

  /**
   * Decodes a request.
   *
   * @throws MalformedException if the bytes are no request, whatever they are
   */
  public static Envelope<Request> decodeRequest(byte[] bytes) {
    return decodeRequest(new WireInput(bytes));
  }

  /** As {@link #decodeRequest(byte[])}, for the rest of the input. */
  public static Envelope<Request> decodeRequest(WireInput in) {
    return new Envelope<>(decodeId(in), decodeRequestBody(in));
  }

  /**
   * Decodes a message's beginning: its id. With it, an error in the rest can be reported to the
   * sender.
   *
   * @throws MalformedException if there is none, or the message has another format
   */
  public static long decodeId(WireInput in) {
    Codec.expectVersion(in);
    try {
      return in.readNumber();
    } catch (KryoException e) {
      throw new MalformedException("not a message: " + e.getMessage(), e);
    }
  }

  /**
   * Decodes the rest of a request, after {@link #decodeId}.
   *
   * @throws MalformedException if it is no request, whatever the bytes are
   */
  public static Request decodeRequestBody(WireInput in) {
    return Codec.readAll(in, "a message", RequestCodec::read);
  }

  /**
   * Decodes a reply.
   *
   * @throws MalformedException if the bytes are no reply, whatever they are
   */
  public static Envelope<Reply> decodeReply(byte[] bytes) {
    return decodeReply(new WireInput(bytes));
  }

  /** As {@link #decodeReply(byte[])}, for the rest of the input. */
  public static Envelope<Reply> decodeReply(WireInput in) {
    return new Envelope<>(decodeId(in), decodeReplyBody(in));
  }

  /**
   * Decodes the rest of a reply, after {@link #decodeId}.
   *
   * @throws MalformedException if it is no reply, whatever the bytes are
   */
  public static Reply decodeReplyBody(WireInput in) {
    return Codec.readAll(in, "a message", ReplyCodec::read);
  }

  /** Writes a watcher's positions, in the form of requests and replies. */
  public static void writePlaces(WireOutput out, List<WatchRequest.Place> places) {
    WireParts.writePlaces(out, places);
  }

  /**
   * Reads what {@link #writePlaces} wrote.
   *
   * @throws RuntimeException of any kind if the bytes are invalid
   */
  public static List<WatchRequest.Place> readPlaces(WireInput in) {
    return WireParts.readPlaces(in);
  }
}
