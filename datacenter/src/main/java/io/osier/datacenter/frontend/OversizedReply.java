package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.net.Framing;
import io.osier.protocol.Reply;

/** What a client is told when its answer does not fit in a frame. */
final class OversizedReply {
  private OversizedReply() {}

  /** The answer instead: what was too large, the limit, and what helps. */
  static Reply.Failure failure(Reply reply) {
    String limit = " over the limit of " + (Framing.CLIENT_FRAME_BYTES_MAX >> 20) + " MiB";
    return switch (reply) {
      case Reply.Answer a ->
          new Reply.Failure(
              ErrorCode.VALUE_TOO_LARGE,
              "the value is"
                  + limit
                  + " for an answer: read it in part (contains, size, some fields of a map), and"
                  + " make it smaller by removing some or all of it");
      case Reply.All a ->
          new Reply.Failure(
              ErrorCode.VALUE_TOO_LARGE,
              "the value of the first of these keys is"
                  + limit
                  + " for an answer: read it in part (contains, size, some fields of a map)");
      case Reply.Page p ->
          new Reply.Failure(
              ErrorCode.VALUE_TOO_LARGE,
              "the value of key '"
                  + p.rows().getFirst().key()
                  + "' is"
                  + limit
                  + " for a page: scan sizes instead of values, or go on behind that key");
      case Reply.Done d ->
          new Reply.Failure(
              ErrorCode.TIMEOUT, "the update was done, but the value that it asked for is" + limit);
      case Reply.Evaluated e ->
          e.dot().isPresent()
              ? new Reply.Failure(
                  ErrorCode.TIMEOUT,
                  "the program was done, but the values that it read are" + limit)
              : new Reply.Failure(
                  ErrorCode.VALUE_TOO_LARGE,
                  "the values are" + limit + " for an answer: read fewer at a time, or in part");
      case Reply.Transacted t ->
          t.dot().isPresent()
              ? new Reply.Failure(
                  ErrorCode.TIMEOUT,
                  "the transaction was committed, but the values that it read last are" + limit)
              : new Reply.Failure(
                  ErrorCode.VALUE_TOO_LARGE,
                  "the values are" + limit + " for an answer: read fewer at a time, or in part");
      default -> new Reply.Failure(ErrorCode.VALUE_TOO_LARGE, "the answer is" + limit);
    };
  }
}
