package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.net.Framing;
import io.osier.protocol.Reply;

/**
 * Makes the answers in place of replies that cannot be sent: they say whether the request was done,
 * so that its client knows whether it may ask again. Static and pure.
 */
public final class UnsentReply {
  private UnsentReply() {}

  /** Returns whether a reply says that its request has changed something. */
  static boolean isDone(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> true;
      case Reply.All a -> a.parts().stream().anyMatch(Reply.Done.class::isInstance);
      case Reply.Evaluated e -> e.dot().isPresent();
      case Reply.Transacted t -> t.dot().isPresent();
      default -> false;
    };
  }

  /** Returns whether what is lost with a reply can be had by asking once more. */
  static boolean canBeAskedAgain(Reply reply) {
    return switch (reply) {
      case Reply.Transacted t -> false;
      case Reply.Welcome w -> false;
      case Reply.Challenge c -> false;
      case Reply.Failure f -> false;
      case Reply.Pong p -> false;
      default -> !isDone(reply);
    };
  }

  /** Returns the answer in place of a reply for which the budget of answers has no room. */
  public static Reply.Failure noRoom(Reply reply) {
    return canBeAskedAgain(reply)
        ? new Reply.Failure(
            ErrorCode.OVERLOADED,
            "there is no memory for the answer beside those that wait to be sent; ask for less at"
                + " once, and read answers as they come")
        : new Reply.Failure(
            ErrorCode.TIMEOUT,
            "the update was done, but there is no memory for its answer beside those that wait to"
                + " be sent");
  }

  /** Returns the answer in place of a reply that cannot be encoded. */
  static Reply.Failure unencodable(Reply reply, RuntimeException cause) {
    boolean done = isDone(reply);
    return new Reply.Failure(
        done ? ErrorCode.TIMEOUT : ErrorCode.INTERNAL,
        (done ? "the update was done, but " : "") + "the answer cannot be encoded: " + cause);
  }

  /** Returns the answer in place of a reply that is too large for a frame, with what helps. */
  static Reply.Failure oversized(Reply reply) {
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
