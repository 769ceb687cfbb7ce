package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.forward.Forwardable;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adapts answers to clients of older versions of the protocol. An answer with objects or fields of
 * types that they do not know becomes a failure that says so. Keyspaces that others hold are shown
 * to them as ones of this datacenter, which forwards. A keyspace that is hashed by tag, or has
 * homes, is shown to them as any other, and their requests for it are refused. Pure.
 */
final class LaterTypes {
  private LaterTypes() {}

  /**
   * Returns the answer in a form that a client can read.
   *
   * @param version the version of the client protocol that it speaks
   */
  static Reply legible(Reply reply, int version) {
    if (version < Request.AGES_VERSION
        && reply instanceof Reply.Answer old
        && old.age().isPresent()) {
      return ageless(old.age().get());
    }
    if (version < Request.HOMES_VERSION) {
      switch (reply) {
        case Reply.Welcome w -> {
          Reply.Keyspaces told = told(w.keyspaces(), w.elsewhere(), version);
          return new Reply.Welcome(
              w.protocolVersion(), w.replica(), told.keyspaces(), told.elsewhere());
        }
        case Reply.Keyspaces k -> {
          return told(k.keyspaces(), k.elsewhere(), version);
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

  /**
   * Returns the failure in place of an answer with an age, which the client would take for a
   * current one.
   */
  private static Reply.Failure ageless(Duration age) {
    return new Reply.Failure(
        ErrorCode.UNAVAILABLE,
        "none of those that hold the keyspace can be reached, and the copy here is up to "
            + age.toMillis()
            + " ms old; clients can be told that from version "
            + Request.AGES_VERSION
            + " of the protocol on: upgrade the client");
  }

  private static Reply.Keyspaces told(
      List<Reply.KeyspaceInfo> here, Reply.Elsewhere elsewhere, int version) {
    return version < Request.ELSEWHERE_VERSION
        ? new Reply.Keyspaces(plain(Reply.Elsewhere.all(here, elsewhere), version))
        : new Reply.Keyspaces(
            plain(here, version),
            new Reply.Elsewhere(
                elsewhere.keyspaces().stream()
                    .map(k -> new Reply.HeldElsewhere(plain(k.keyspace(), version), k.holders()))
                    .toList(),
                elsewhere.addresses()));
  }

  private static List<Reply.KeyspaceInfo> plain(List<Reply.KeyspaceInfo> keyspaces, int version) {
    return keyspaces.stream().map(k -> plain(k, version)).toList();
  }

  private static Reply.KeyspaceInfo plain(Reply.KeyspaceInfo k, int version) {
    Partitioning all = k.partitioning();
    Partitioning known =
        version < Request.BY_TAG_VERSION
            ? Partitioning.byKey(all.count())
            : new Partitioning(all.count(), all.hash());
    return new Reply.KeyspaceInfo(k.name(), k.slaMillis(), known, k.causal());
  }

  /**
   * Returns why a request is refused: its keyspace is hashed by tag or has homes, and the asker
   * would take a key for one of another partition.
   *
   * @param who the asker, in words, whose version may not know homes
   * @param byTag whether the asker knows hashing by tag
   * @return null if the request is not refused
   */
  static Reply.@Nullable Failure refusal(
      Request request, ClientService here, String who, boolean byTag) {
    Partitioning of =
        Forwardable.keyspace(request).flatMap(here::partitioning).orElse(Partitioning.byKey(1));
    String what = !of.homes().isEmpty() ? "homes" : of.isByTag() && !byTag ? "hash = tag" : null;
    return what == null
        ? null
        : new Reply.Failure(
            ErrorCode.VERSION_MISMATCH,
            "nothing was done: keyspace '"
                + Forwardable.keyspace(request).orElse("")
                + "' has "
                + what
                + ", which "
                + who
                + " does not know: upgrade it");
  }

  private static Reply.Failure failure(Reply reply, CrdtType type) {
    return new Reply.Failure(
        ErrorCode.VERSION_MISMATCH,
        (UnsentReply.isDone(reply)
                ? "the update was done, and the value that was read with it has"
                : "the answer has")
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
