package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import org.jspecify.annotations.Nullable;

/** Makes the answers to clients when a holder did not answer. Static and pure. */
final class Refusals {
  /** The most that such a request may take in the heap; it takes less when it travels. */
  private static final long LATER_BYTES_MAX = 64 << 20;

  private Refusals() {}

  /** No holder of the keyspace can be asked. */
  static Reply.Failure unreachable(String self, String keyspace, ForwardingHost.Held held) {
    return new Reply.Failure(
        ErrorCode.UNAVAILABLE,
        ("nothing was done: keyspace '%s' is held by %s, and %s reaches none of them that"
                + " takes forwarded requests")
            .formatted(keyspace, held.dcs(), self));
  }

  static Reply.Failure notTaken(String self, String keyspace, ForwardingHost.Held held) {
    return new Reply.Failure(
        ErrorCode.INVALID_ARGUMENT,
        ("nothing was done: this needs a datacenter that holds keyspace '%s', which are"
                + " %s, and not %s: connect there")
            .formatted(keyspace, held.dcs(), self));
  }

  /**
   * Returns why a request that not all versions understand is not sent to a datacenter; null if it
   * is, or all understand it.
   *
   * @param bytes the budget, which must have room for the request before it is encoded
   */
  static Reply.@Nullable Failure later(
      String self,
      Request request,
      String dc,
      ForwardingHost.Held held,
      ForwardingHost around,
      ByteBudget bytes) {
    if (!Forwardable.isLater(request)) {
      return null;
    }
    if (!around.takesScripts(dc)) {
      return notTaken(self, Forwardable.keyspace(request).orElse(""), held);
    }
    long size = MessageHeap.bytes(request);
    if (size > LATER_BYTES_MAX) {
      return new Reply.Failure(
          ErrorCode.VALUE_TOO_LARGE,
          "nothing was done: a program for %s has at most %d bytes".formatted(dc, LATER_BYTES_MAX));
    }
    // Encoded it takes less, so it is tried if half of the budget is free.
    return bytes.has(Math.min(size, bytes.max() / 2)) ? null : noRoom(dc, size, bytes.max());
  }

  /** Too many requests are in flight at a datacenter. */
  static Reply.Failure fullWindow(String dc) {
    return new Reply.Failure(
        ErrorCode.OVERLOADED,
        "nothing was done: "
            + Asks.WINDOW
            + " requests to "
            + dc
            + " wait for their answers already, the most that may; try again later");
  }

  /** The budget is spent. */
  static Reply.Failure noRoom(String dc, long taken, long max) {
    return new Reply.Failure(
        taken <= max ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
        ("nothing was done: a request of %d bytes for %s finds no room; all that are"
                + " forwarded may have %d bytes: osier.memory.forwarded")
            .formatted(taken, dc, max));
  }

  /** Too many transactions are open at holders. */
  static Reply.Failure tooManyOpen(String self) {
    return new Reply.Failure(
        ErrorCode.OVERLOADED,
        "nothing was done: "
            + self
            + " has "
            + HolderTransactions.OPEN_MAX
            + " transactions open at other datacenters, or this one is being begun twice; try again"
            + " later");
  }

  /** A transaction that no holder has open for this datacenter. */
  static Reply.Failure notOpen(String self, Request request) {
    return request instanceof Request.Repeat r
        ? new Reply.Failure(
            ErrorCode.TRANSACTION_FORGOTTEN,
            self
                + " no longer knows at which datacenter transaction "
                + r.step().transaction()
                + " was; whether it was committed can no longer be told")
        : new Reply.Failure(
            ErrorCode.TRANSACTION_ENDED,
            "the transaction is not open at a datacenter that "
                + self
                + " has asked: it has ended, or the connection to that one was lost, and it was"
                + " committed only if its commit was confirmed; begin another one");
  }

  /**
   * The holder of a transaction cannot be asked at present; only that holder knows whether the step
   * was done.
   */
  static Reply.Failure homeUnreachable(String self, String dc) {
    return new Reply.Failure(
        ErrorCode.UNAVAILABLE,
        "the transaction is open at " + dc + ", which " + self + " cannot ask");
  }

  static Reply.Failure noRoomForAnswer(Request request, String dc) {
    String why = "the answer of " + dc + " finds no room here";
    return lost(
        request,
        ErrorCode.OVERLOADED,
        why,
        "; ask for less at once, or raise osier.memory.forwarded");
  }

  /** The answer that has come cannot be read. */
  static Reply.Failure unreadable(Request request, String dc, String reason) {
    return lost(
        request, ErrorCode.INTERNAL, "the answer of " + dc + " cannot be read: " + reason, "");
  }

  /** No answer will come. */
  static Reply.Failure lost(Request request, String why) {
    return lost(request, ErrorCode.UNAVAILABLE, why, "");
  }

  private static Reply.Failure lost(
      Request request, ErrorCode otherwise, String why, String advice) {
    return switch (Forwardable.loss(request)) {
      case UNKNOWN -> new Reply.Failure(ErrorCode.TIMEOUT, "it may be done: " + why);
      case ENDED ->
          new Reply.Failure(
              ErrorCode.TRANSACTION_ENDED,
              "the transaction has ended, and nothing of it is done: " + why);
      case NONE -> new Reply.Failure(otherwise, why + advice);
    };
  }
}
