package io.osier.datacenter.forward;

import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.Reading;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The forwarded form of the question which datacenters have certain updates. It begins with a
 * number that no request of clients has, and names the updates that the session has seen, since
 * each holder has commit numbers of its own. It is answered by the datacenters' names, as a set.
 * Static, pure.
 */
public final class ForwardedSpread {
  /** See above; a script has 126. */
  static final int KIND = 125;

  private static final int NAME_BYTES_MAX = 1 << 10;

  private ForwardedSpread() {}

  static void write(WireOutput out, ProgressRequest.Spread asked) {
    out.writeByte(KIND);
    out.writeText(asked.keyspace());
    out.writeNumber(asked.partition());
    out.writeVector(asked.seen());
    out.writeNumber(asked.datacenters());
    out.writeNumber(asked.waitMillis());
  }

  /**
   * Reads the question; once.
   *
   * @throws MalformedException if the bytes are no such question
   */
  public static ProgressRequest.Spread read(WireInput in) {
    return Codec.readAll(
        in,
        "a forwarded question",
        rest -> {
          rest.readByte();
          return new ProgressRequest.Spread(
              rest.readText(NAME_BYTES_MAX),
              number(rest),
              ProgressRequest.Spread.ANY,
              rest.readVector(),
              number(rest),
              number(rest));
        });
  }

  private static int number(WireInput in) {
    return (int) Math.min(in.readNumber(), Integer.MAX_VALUE);
  }

  /** Returns the answer in the form in which it travels. */
  public static Reply travelling(Reply reply) {
    return reply instanceof Reply.Spread told
        ? new Reply.Answer(
            Optional.empty(),
            Optional.of(
                new Reading.Many(
                    new TreeSet<>(told.datacenters()).stream().<Value>map(Value::of).toList())),
            true,
            VersionVector.EMPTY)
        : reply;
  }

  /** The answer that has come to a request of any kind; a failure if it cannot be read. */
  static Reply arrived(Request asked, String dc, WireInput answer) {
    try {
      return arrived(asked, ProtocolCodec.decodeReplyBody(answer));
    } catch (MalformedException e) {
      return Refusals.unreadable(asked, dc, e.reason());
    }
  }

  private static Reply arrived(Request asked, Reply reply) {
    if (!(asked instanceof ProgressRequest.Spread) || !(reply instanceof Reply.Answer answer)) {
      return reply;
    }
    List<Value> names =
        answer.reading().orElse(null) instanceof Reading.Many many ? many.values() : List.of();
    Set<String> having =
        names.stream()
            .filter(Value.Str.class::isInstance)
            .map(name -> ((Value.Str) name).content())
            .collect(Collectors.toSet());
    return new Reply.Spread(ProgressRequest.Spread.ANY, having);
  }
}
