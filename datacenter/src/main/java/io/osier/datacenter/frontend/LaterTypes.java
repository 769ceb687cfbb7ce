package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Answers of which a client of an older version of the protocol could not read the bytes: there are
 * objects or fields in them of types that came later, of which it is told so instead, or who holds
 * a keyspace that is not here: it takes that for one of this datacenter, which forwards. Pure.
 */
final class LaterTypes {
  private LaterTypes() {}

  /**
   * The answer for a client.
   *
   * @param version of the client protocol that it speaks
   */
  static Reply legible(Reply reply, int version) {
    if (version < Request.ELSEWHERE_VERSION) {
      switch (reply) {
        case Reply.Welcome w -> {
          return new Reply.Welcome(
              w.protocolVersion(), w.replica(), Reply.Elsewhere.all(w.keyspaces(), w.elsewhere()));
        }
        case Reply.Keyspaces k -> {
          return new Reply.Keyspaces(Reply.Elsewhere.all(k.keyspaces(), k.elsewhere()));
        }
        default -> {}
      }
    }
    if (version >= Request.LATER_TYPES_VERSION) {
      return reply;
    }
    if (reply instanceof Reply.All all) {
      return new Reply.All(all.parts().stream().map(part -> legible(part, version)).toList());
    }
    return in(reply).<Reply>map(type -> failure(reply, type)).findFirst().orElse(reply);
  }

  private static Reply.Failure failure(Reply reply, CrdtType type) {
    boolean isDone =
        reply instanceof Reply.Done || (reply instanceof Reply.Transacted t && t.dot().isPresent());
    return new Reply.Failure(
        ErrorCode.VERSION_MISMATCH,
        (isDone ? "the update was done, and what was asked with it has" : "the answer has")
            + " something of type "
            + type
            + ", which clients know from version "
            + Request.LATER_TYPES_VERSION
            + " of the protocol on: upgrade the client");
  }

  private static Stream<CrdtType> in(Reply reply) {
    return switch (reply) {
      case Reply.Answer r -> in(r);
      case Reply.Done r -> r.answer().stream().flatMap(LaterTypes::in);
      case Reply.Transacted r -> r.answers().stream().flatMap(LaterTypes::in);
      case Reply.Page r ->
          r.rows().stream().flatMap(row -> in(Optional.of(row.type()), Optional.of(row.reading())));
      case Reply.Changes r ->
          r.changes().stream().flatMap(change -> in(change.type(), Optional.empty()));
      default -> Stream.empty();
    };
  }

  private static Stream<CrdtType> in(Reply.Answer answer) {
    return in(answer.type(), answer.reading());
  }

  private static Stream<CrdtType> in(Optional<CrdtType> type, Optional<Reading> reading) {
    return Stream.concat(
        type.stream().filter(CrdtType::isLater), reading.stream().flatMap(LaterTypes::in));
  }

  private static Stream<CrdtType> in(Reading reading) {
    return reading instanceof Reading.Fields map
        ? map.fields().entrySet().stream()
            .flatMap(field -> in(Optional.of(field.getKey().type()), Optional.of(field.getValue())))
        : Stream.empty();
  }
}
