package io.osier.bench.sim.app;

import io.osier.bench.sim.Simulation;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;

/** What requests and answers are where they arrive, and what the trace's hash takes of them. */
public final class Carried {
  /** One request of so many is encoded where most are not, with its answer. */
  private static final int ENCODED_ONE_IN = 16;

  private Carried() {}

  /** What comes of a request that is sent: of one of so many what its bytes say; else itself. */
  public static Request request(Simulation of, long ticket, Request request) {
    if (!isEncoded(ticket)) {
      of.trace().hash(ticket * 31 + request.getClass().getName().hashCode());
      return request;
    }
    byte[] bytes = ProtocolCodec.encode(ticket, request);
    of.trace().hash(bytes);
    return ProtocolCodec.decodeRequest(bytes).message();
  }

  /** As the other one, of an answer. */
  public static Reply reply(Simulation of, long ticket, Reply reply) {
    if (!isEncoded(ticket)) {
      of.trace().hash(ticket * 31 + print(reply));
      return reply;
    }
    byte[] bytes = ProtocolCodec.encode(ticket, reply);
    of.trace().hash(bytes);
    return ProtocolCodec.decodeReply(bytes).message();
  }

  private static boolean isEncoded(long ticket) {
    return ticket % ENCODED_ONE_IN == 0;
  }

  /** What is cheap to tell of an answer, and in each run of a seed the same. */
  private static int print(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> d.dot().hashCode() * 31 + d.answer().map(a -> print(a)).orElse(0);
      case Reply.Answer a -> a.seen().hashCode() * 31 + Boolean.hashCode(a.exists());
      case Reply.Transacted t -> t.clock().hashCode() * 31 + t.dot().hashCode();
      case Reply.Failure f -> f.code().name().hashCode();
      case Reply.All all -> all.parts().stream().mapToInt(Carried::print).sum();
      default -> reply.getClass().getName().hashCode();
    };
  }
}
