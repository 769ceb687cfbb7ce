package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.protocol.Call;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests, what becomes of them when something is lost, and what they may take. */
final class ForwarderTest extends ForwarderFixture {
  @Test
  void formOfARequest_isKept() {
    byte[] bytes = ForwardedRequest.encode(3, "ann", 5, new Request.Ping());
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("0303616e6e010502");
    ForwardedRequest read = ForwardedRequest.decode(bytes);
    assertThat(List.of(read.lane(), read.user(), read.id())).isEqualTo(List.of(3L, "ann", 5L));
    assertThat(read.decoded()).isEqualTo(new Request.Ping());
  }

  @Test
  void request_isAnsweredByAHolder_andCounted() {
    up(EU);
    assertThat(forward(update())).isTrue();
    Sent sent = next();
    assertThat(sent.dc()).isEqualTo("eu");
    assertThat(sent.head().user()).isEqualTo("ann");
    assertThat(sent.request()).isEqualTo(update());
    world.now += TimeUnit.MILLISECONDS.toNanos(40);
    answer(EU, sent, new Reply.Done(new Dot(EU, 4)));
    answer(EU, sent, new Reply.Done(new Dot(EU, 4)));
    assertThat(replies).as("once").containsExactly(new Reply.Done(new Dot(EU, 4)));
    Snapshot.Forwarded counted = forwarder.counts().getFirst();
    assertThat(forwarder.counts())
        .containsExactly(new Snapshot.Forwarded("shop", "eu", "update", 1, counted.times()));
    assertThat(counted.times().sumMicros()).as("the way").isEqualTo(40_000);
    isIdle();
  }

  @Test
  void unknownKeyspace_isNotForwarded() {
    up(EU);
    assertThat(
            forward(
                new ScanRequest("other", Optional.empty(), Optional.empty(), new Query.Whole(), 1)))
        .isFalse();
    assertThat(forward(new Request.Keyspaces())).isFalse();
    assertThat(world.sent).isEmpty();
  }

  @Test
  void noHolderThatCanBeAsked_isUnavailable_andNothingIsDone() {
    forward(update());
    assertThat(((Reply.Failure) replies.getFirst()).message()).contains("[eu, us]");
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    up(EU);
    world.cut = true; // between the look and the sending
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    isIdle();
  }

  /** A script travels by the words that it follows, to who knows that; a lost one is unknown. */
  @Test
  void script_travelsByItsForm_toWhoTakesIt() {
    up(EU);
    Call script =
        new Call.Script(List.of(KEY), true, 0, ask -> {}, Optional.of(() -> new byte[] {7, 8}));
    List<Call.Guard> guards = List.of(new Call.Guard(KEY, VersionVector.of(EU, 3)));
    Request asked = new Request.Evaluate("shop", List.of(script), guards, VersionVector.EMPTY, 0);
    forward(asked);
    assertThat(((Reply.Failure) replies.getFirst()).message()).contains("[eu, us]");
    assertThat(failure()).as("it speaks an older version").isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(world.sent).isEmpty();
    world.takingScripts.add("eu");
    forward(asked);
    assertThat(HexFormat.of().formatHex(world.lastSent))
        .isEqualTo("0103616e6e01027e020708190473686f700102016b01016b010002657501030000");
    assertThat(next().request())
        .isEqualTo(
            new Request.Evaluate(
                "shop", List.of(new Call.Version(KEY)), guards, VersionVector.EMPTY, 0));
    down(EU);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    isIdle();
  }

  @Test
  void scriptThatIsTooLargeToTravel_isRefused() {
    up(EU);
    world.takingScripts.add("eu");
    Call script =
        new Call.Script(List.of(KEY), true, 64L << 20, ask -> {}, Optional.of(() -> new byte[0]));
    forward(new Request.Evaluate("shop", List.of(script), List.of(), VersionVector.EMPTY, 0));
    assertThat(failure()).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(world.sent).isEmpty();
    isIdle();
  }

  @Test
  void scriptForWhichThereIsNoRoom_isRefused_beforeItIsEncoded() {
    up(EU);
    world.takingScripts.add("eu");
    Call script =
        new Call.Script(
            List.of(KEY),
            true,
            1_000,
            ask -> {},
            Optional.of(
                () -> {
                  throw new AssertionError("it is encoded");
                }));
    bytes.take(BYTES - 1_000);
    forward(new Request.Evaluate("shop", List.of(script), List.of(), VersionVector.EMPTY, 0));
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    bytes.give(BYTES - 1_000);
    isIdle();
  }

  /** Commits are counted by each holder for itself, so what was seen is asked for. */
  @Test
  void whoHasWhatWasSeen_isAskedOfAHolder_thatKnowsTheQuestion() {
    up(EU);
    Request asked = new ProgressRequest.Spread("shop", 0, 9, VersionVector.of(EU, 3), 1, 1_000);
    forward(asked);
    assertThat(failure()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    world.takingScripts.add("eu");
    forward(asked);
    assertThat(HexFormat.of().formatHex(world.lastSent))
        .isEqualTo("0103616e6e01027d0473686f70000100026575010301e807");
    Sent sent = next();
    assertThat(sent.request())
        .isEqualTo(
            new ProgressRequest.Spread(
                "shop", 0, ProgressRequest.Spread.ANY, VersionVector.of(EU, 3), 1, 1_000));
    Reply told = new Reply.Spread(ProgressRequest.Spread.ANY, Set.of("us", "sa"));
    answer(EU, sent, ForwardedSpread.travelling(told));
    assertThat(replies).containsExactly(told);
    isIdle();
  }

  @Test
  void whatDependsOnThisProcess_isRefused_andNamesWhoHoldsIt() {
    up(EU);
    Call script = new Call.Script(List.of(KEY), true, 0, ask -> {});
    forward(new Request.Evaluate("shop", List.of(script), List.of(), VersionVector.EMPTY, 0));
    assertThat(((Reply.Failure) replies.getFirst()).message()).contains("[eu, us]");
    assertThat(failure()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(world.sent).isEmpty();
  }

  // ---------------------------------------------------------------- what is lost

  @Test
  void answersLostWithTheConnection_ofUpdatesAreUnknown_ofReadsMayBeAskedAgain() {
    up(EU);
    up(US);
    forward(update());
    Sent sent = next();
    down(EU);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    answer(EU, sent, new Reply.Done(new Dot(EU, 1)));
    assertThat(replies).as("the caller cancelled the request").isEmpty();
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc()).isEqualTo("us");
    down(US);
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(world.sent.stream().filter(s -> !(s.request() instanceof Request.Ping)))
        .as("an update is not sent twice")
        .isEmpty();
    isIdle();
  }

  @Test
  void peerThatNeverAnswers_isGivenUpInTime() {
    up(EU);
    forward(update());
    pass(0);
    pass(Asks.ANSWER_NANOS - 1);
    assertThat(replies).isEmpty();
    pass(1);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    isIdle();
    pass(TimeUnit.MINUTES.toNanos(2)); // the last measurement ends, and nothing is wanted
    pass(TimeUnit.MINUTES.toNanos(2));
    assertThat(world.later).as("nothing is looked at while nothing is forwarded").isEmpty();
    forward(update());
    assertThat(world.later).isNotEmpty();
  }

  @Test
  void whatWaitsAtTheHolder_isGivenItsTimeBesides() {
    up(EU);
    forward(
        new Request.Read(
            "shop", KEY, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 60_000));
    pass(0);
    pass(Asks.ANSWER_NANOS + TimeUnit.SECONDS.toNanos(59));
    assertThat(replies).isEmpty();
    pass(TimeUnit.SECONDS.toNanos(1));
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void end_failsWhatIsUnderWay() {
    up(EU);
    forward(update());
    forwarder.close();
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.UNAVAILABLE);
    isIdle();
  }

  // ---------------------------------------------------------------- budgets

  @Test
  void spentBudget_isOverloaded_andNothingIsDone() {
    up(EU);
    bytes.take(BYTES);
    forward(update());
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    bytes.give(BYTES);
    bytes.setMax(100);
    forward(update());
    assertThat(failure()).as("it never fits").isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    isIdle();
  }

  @Test
  void fullWindow_isOverloaded() {
    up(EU);
    bytes.setMax(Long.MAX_VALUE / 2);
    for (int i = 0; i < Asks.WINDOW; i++) {
      forward(read(VersionVector.EMPTY));
    }
    assertThat(replies).isEmpty();
    forward(read(VersionVector.EMPTY));
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    answer(EU, next(), seen(EU, 1));
    replies.clear();
    forward(read(VersionVector.EMPTY));
    assertThat(replies).isEmpty();
    down(EU);
    isIdle();
  }

  @Test
  void largeAnswer_countsUntilItIsRead_andFailsWhereThereIsNoRoom() {
    up(EU);
    Reply large = new Reply.Report("x".repeat(100_000));
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), large);
    assertThat(replies).containsExactly(large);
    replies.clear();
    isIdle();
    forward(read(VersionVector.EMPTY));
    Sent read = next();
    forward(update());
    Sent update = next();
    long others = BYTES - bytes.taken();
    bytes.take(others);
    answer(EU, read, large);
    assertThat(failure()).isEqualTo(ErrorCode.OVERLOADED);
    answer(EU, update, large);
    assertThat(failure()).isEqualTo(ErrorCode.TIMEOUT);
    bytes.give(others);
    isIdle();
  }
}
