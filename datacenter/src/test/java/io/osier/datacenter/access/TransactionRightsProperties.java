package io.osier.datacenter.access;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Example;

/** The rights that steps of transactions need, as they are when these commit. */
final class TransactionRightsProperties extends RightsFixture {
  // ---------------------------------------------------------------- transactions

  private static final int MANY = 10_000;

  /** Begins a transaction, and updates a key. */
  private static final Request.Transact FIRST =
      step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);

  private static final Request.Transact COMMIT = step(2, List.of(), List.of(), Request.End.COMMIT);
  private static final Grant WRITE_A = Grant.on(Right.WRITE, "shop", Key.of("a"));

  @Example
  void commit_needsTheRightsOfAllSteps_asTheyAreThen() {
    TransactionRights open = new TransactionRights(MANY);
    User before = writer("cart", "a", "b");
    assertThat(open.missing(before, FIRST, 0)).isNull();
    assertThat(open.missing(before, step(2, List.of(Key.of("b1")), List.of(), Request.End.OPEN), 1))
        .isNull();
    User after = writer("cart", "b");
    Request.Transact commit = step(3, List.of(), List.of(), Request.End.COMMIT);
    assertThat(open.missing(after, commit, 2)).isEqualTo(WRITE_A);
    assertThat(open.missing(after, commit, 2)).as("again").isNotNull();
    // A wider right is as good as the one that was taken away.
    assertThat(
            open.missing(
                new User("cart", Optional.empty(), List.of(Grant.on(Right.WRITE, "shop"))),
                commit,
                3))
        .isNull();
  }

  private static final Reply DONE =
      new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of());

  /** By a full disk, for example; it can be asked for again. */
  @Example
  void commitThatIsRefused_leavesItAsItWas() {
    for (ErrorCode code :
        List.of(
            ErrorCode.STORE_FULL,
            ErrorCode.OVERLOADED,
            ErrorCode.NOT_ENOUGH_RIGHTS,
            ErrorCode.INVALID_ARGUMENT)) {
      TransactionRights open = new TransactionRights(MANY);
      User before = writer("cart", "a", "b");
      Request.Transact behind = step(2, List.of(Key.of("b1")), List.of(), Request.End.OPEN);
      Request.Transact again = step(3, List.of(), List.of(), Request.End.COMMIT);
      open.missing(before, FIRST, 0);
      open.answered(FIRST, DONE);
      assertThat(open.missing(before, COMMIT, 1)).isNull();
      assertThat(open.missing(before, behind, 2)).isNull();
      open.answered(COMMIT, new Reply.Failure(code, "not now"));
      open.answered(behind, DONE);
      assertThat(open.missing(writer("cart", "b"), again, 3)).as("%s", code).isEqualTo(WRITE_A);
      assertThat(open.missing(writer("cart", "a"), again, 3))
          .as("what was updated behind the commit")
          .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("b")));
      assertThatThrownBy(() -> open.missing(writer("thief", "a", "b"), again, 4))
          .isInstanceOf(OsierException.class);
      assertThat(open.missing(before, again, 5)).isNull();
      open.answered(again, DONE);
      assertThat(open.size()).isZero();
    }
  }

  @Example
  void transactionThatHasEnded_isForgotten_whoeverEndedIt() {
    User cart = writer("cart", "a");
    Reply ended = new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "its time ran out");
    for (Request.End end : Request.End.values()) {
      TransactionRights open = new TransactionRights(MANY);
      open.missing(cart, FIRST, 0);
      open.answered(FIRST, DONE);
      Request.Transact next = step(2, List.of(), List.of(), end);
      open.missing(cart, next, 1);
      open.answered(next, ended);
      assertThat(open.size()).as("%s", end).isZero();
    }
  }

  /** It has ended in the partition, too. Before, the record stayed until its time was over. */
  @Example
  void stepWhoseReadsCouldNotBeTold_leavesNothing_butOneThatReadsTooMuchDoes() {
    TransactionRights open = new TransactionRights(MANY);
    open.missing(writer("cart", "a"), FIRST, 0);
    open.answered(FIRST, DONE);
    Request.Transact reads = step(1, List.of(Key.of("a1")), List.of(Key.of("b")), Request.End.OPEN);
    open.missing(writer("cart", "a"), reads, 1);
    open.answered(reads, new Reply.Failure(ErrorCode.VALUE_TOO_LARGE, "read fewer"));
    assertThat(open.missing(writer("cart"), step(2, List.of(), List.of(), Request.End.COMMIT), 3))
        .isEqualTo(WRITE_A);
    open.missing(writer("cart", "a"), reads, 4);
    open.answered(reads, new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "it cannot be read"));
    assertThat(open.size()).isZero();
  }

  /** The first step waits for a disk, and others come by another connection. */
  @Example
  void endThatOvertakesTheBeginning_leavesWhatTheBeginningUpdates() {
    TransactionRights open = new TransactionRights(MANY);
    User before = writer("cart", "a");
    Request.Transact alone = step(1, List.of(), List.of(), Request.End.COMMIT);
    open.missing(before, FIRST, 0);
    open.missing(before, COMMIT, 1);
    open.answered(COMMIT, new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "not open"));
    open.missing(before, alone, 2);
    open.answered(alone, DONE);
    open.answered(FIRST, DONE);
    assertThat(open.missing(writer("cart"), COMMIT, 3)).isEqualTo(WRITE_A);
  }

  @Example
  void abort_isAlwaysAllowed_andForgetsIt() {
    TransactionRights open = new TransactionRights(MANY);
    open.missing(writer("cart", "a"), FIRST, 0);
    Request.Transact abort = step(2, List.of(), List.of(), Request.End.ABORT);
    assertThat(open.missing(writer("cart"), abort, 1)).isNull();
    open.answered(abort, DONE);
    assertThat(open.size()).isZero();
  }

  @Example
  void transaction_isItsUsersAlone() {
    TransactionRights open = new TransactionRights(MANY);
    open.missing(writer("cart", "a"), FIRST, 0);
    for (Request.End end : Request.End.values()) {
      refused(
          ErrorCode.TRANSACTION_ENDED,
          () -> open.missing(writer("thief", "a"), step(2, List.of(), List.of(), end), 1));
    }
  }

  @Example
  void table_isBounded_andMakesRoomWhenTheirTimeIsOver() {
    TransactionRights open = new TransactionRights(2, 2, MANY);
    User cart = writer("cart", "a");
    for (int i = 0; i < 2; i++) {
      open.missing(cart, begin(i), 0);
    }
    refused(ErrorCode.OVERLOADED, () -> open.missing(cart, begin(3), 1_000_000_000L));
    assertThat(open.missing(cart, begin(3), 62_000_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(1);
    // The next one's time is counted from when it came.
    assertThat(open.missing(cart, begin(4), 63_000_000_000L)).isNull();
    assertThatThrownBy(() -> open.missing(cart, begin(5), 122_000_000_000L))
        .isInstanceOf(OsierException.class);
    assertThat(open.missing(cart, begin(5), 123_500_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(2);
  }

  /** Nobody answers for it any more: it would stay until its time is over. */
  @Example
  void firstStepThatIsRefused_leavesNothing() {
    for (ErrorCode code :
        List.of(
            ErrorCode.OVERLOADED,
            ErrorCode.UNKNOWN_KEYSPACE,
            ErrorCode.WRONG_TYPE,
            ErrorCode.SESSION_BEHIND,
            ErrorCode.VALUE_TOO_LARGE, // what takes long to be read ends its transaction instead
            ErrorCode.STORE_DAMAGED,
            ErrorCode.SHUTTING_DOWN,
            ErrorCode.TRANSACTION_ENDED, // a repeated one that was refused, too
            ErrorCode.TRANSACTION_FORGOTTEN)) {
      for (List<Key> reads : List.of(List.<Key>of(), List.of(Key.of("r")))) {
        TransactionRights open = new TransactionRights(MANY);
        Request.Transact first = step(1, List.of(Key.of("a1")), reads, Request.End.OPEN);
        open.missing(writer("cart", "a"), first, 0);
        open.answered(first, new Reply.Failure(code, "not now"));
        assertThat(open.size()).as("%s", code).isZero();
        open.answered(first, new Reply.Failure(code, "not now")); // of when nobody was named yet
        assertThat(open.missing(writer("cart", "a"), first, 1)).isNull();
        open.answered(first, DONE);
        assertThat(open.size()).as("begun at last").isOne();
        open.missing(writer("cart", "a"), first, 2);
        open.answered(first, new Reply.Failure(code, "not now"));
        assertThat(open.size())
            .as("sent again, of one that is open, %s", code)
            .isEqualTo(code == ErrorCode.TRANSACTION_ENDED ? 0 : 1);
      }
    }
  }

  /** What failed at it may have done it. */
  @Example
  void firstStepThatMayHaveBeenDone_leavesWhatItUpdates() {
    for (ErrorCode code : List.of(ErrorCode.TIMEOUT, ErrorCode.INTERNAL)) {
      TransactionRights open = new TransactionRights(MANY);
      Request.Transact first =
          step(1, List.of(Key.of("a1")), List.of(Key.of("r")), Request.End.OPEN);
      open.missing(writer("cart", "a"), first, 0);
      open.answered(first, new Reply.Failure(code, "what it reads"));
      assertThat(open.missing(writer("cart"), COMMIT, 1)).as("%s", code).isEqualTo(WRITE_A);
    }
  }

  /** A connection was lost with the first sending, which is still on its way to the partition. */
  @Example
  void firstStepThatWasSentTwice_isForgotten_whenBothAreRefused() {
    TransactionRights open = new TransactionRights(MANY);
    User cart = writer("cart", "a");
    Reply refused = new Reply.Failure(ErrorCode.OVERLOADED, "not now");
    open.missing(cart, FIRST, 0);
    open.missing(cart, FIRST, 1);
    open.answered(FIRST, refused);
    assertThat(open.missing(writer("cart"), COMMIT, 2)).as("it may still begin").isNotNull();
    open.answered(FIRST, refused);
    assertThat(open.size()).isZero();
  }

  @Example
  void noUser_crowdsOutTheOthers() {
    TransactionRights open = new TransactionRights(4, 3, MANY);
    User cart = writer("cart", "a");
    for (int i = 0; i < 3; i++) {
      open.missing(cart, begin(i), 0);
    }
    refused(ErrorCode.OVERLOADED, () -> open.missing(cart, begin(3), 1))
        .hasMessageContaining("user 'cart' has 3 open transactions");
    assertThat(open.missing(writer("shop", "a"), begin(4), 2)).isNull();
    refused(ErrorCode.OVERLOADED, () -> open.missing(writer("other", "a"), begin(5), 3))
        .hasMessageContaining("all users together have 4 open transactions");
    open.answered(begin(0), new Reply.Failure(ErrorCode.OVERLOADED, "not now"));
    assertThat(open.missing(cart, begin(3), 4)).as("what was refused makes room").isNull();
  }

  /** Before, one could have all that a partition may have open. */
  @Example
  void noUser_hasAllThatMayBeOpenInAKeyspace() {
    TransactionRights open = new TransactionRights(4);
    User cart = writer("cart", "a");
    for (int i = 0; i < 3; i++) {
      open.missing(cart, begin(i), 0);
    }
    refused(ErrorCode.OVERLOADED, () -> open.missing(cart, begin(3), 1))
        .hasMessageContaining("user 'cart' has 3 open transactions in 'shop'")
        .hasMessageContaining("of the 4 that there may be");
    assertThat(open.missing(cart, begin("other", 3, 0), 2)).as("in another one").isNull();
    assertThat(open.missing(writer("user", "a"), begin(4), 3)).as("another one").isNull();
    assertThat(open.missing(cart, begin(2), 4)).as("one that it has, once more").isNull();
    open.answered(begin(0), new Reply.Failure(ErrorCode.OVERLOADED, "not now"));
    assertThat(open.missing(cart, begin("shop", 5, 700), 5)).as("one was refused").isNull();
    assertThatThrownBy(() -> open.missing(cart, begin(6), 1_000_000_000L))
        .hasMessageContaining("has 3 open transactions");
    // Those of which nothing was heard are not open any more, and kept for some time.
    long later = 1_600_000_000L;
    for (int i = 6; i < 8; i++) {
      assertThat(open.missing(cart, begin(i), later)).isNull();
    }
    assertThatThrownBy(() -> open.missing(cart, begin(8), later))
        .as("one may have waited before it began")
        .hasMessageContaining("has 3 open transactions");
    assertThat(open.missing(cart, begin(8), later + 200_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(8);
  }

  private static Request.Transact begin(int number) {
    return begin("shop", number, 0);
  }

  private static Request.Transact begin(String keyspace, int number, int waitMillis) {
    return new Request.Transact(
        keyspace,
        new TransactionId(number, 0),
        1,
        Optional.of(new Request.Begin(VersionVector.EMPTY, false, waitMillis, 1_000)),
        List.of(),
        List.of(),
        Request.End.OPEN);
  }
}
