package io.osier.bench.sim.app;

import io.osier.bench.sim.Simulation;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;

/** Carries requests and answers, as objects or encoded, and adds them to the trace's hash. */
public final class Carried {
  /** One request of so many is encoded and decoded, with its answer. */
  private static final int ENCODED_ONE_IN = 16;

  private Carried() {}

  /** Returns a request as it arrives: one of so many is decoded from its bytes. */
  public static Request request(Simulation of, long ticket, Request request) {
    if (!isEncoded(ticket)) {
      of.trace().hash(ticket * 31 + request.getClass().getName().hashCode());
      return request;
    }
    byte[] bytes = ProtocolCodec.encode(ticket, request);
    of.trace().hash(bytes);
    return ProtocolCodec.decodeRequest(bytes).message();
  }

  /** Returns an answer as it arrives: one of so many is decoded from its bytes. */
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

  /** A number that stands for an answer: cheap to make, and the same in each run of a seed. */
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
