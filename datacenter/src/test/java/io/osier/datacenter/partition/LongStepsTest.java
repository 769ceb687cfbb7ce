package io.osier.datacenter.partition;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Steps of transactions whose reads are too long to be answered at once. */
final class LongStepsTest extends LongReadsFixture {
  private static Request.Update addition(String key, String element) {
    return new Request.Update(
        Key.of(key), CrdtType.AW_SET, new Operation.Add(List.of(Value.of(element))));
  }

  private static int elementsOfFirst(Reply reply) {
    return elements(((Reply.Transacted) reply).answers().getFirst());
  }

  @Test
  void stepThatReadsAllOfALargeSet_isAnsweredLater_andAgain_withWhatItChanged() {
    add("large", 0, LARGE);
    Request.Transact read =
        step(1, List.of(addition("large", "own")), List.of(fetch("large", new Query.Whole())));
    Effects.ToClient answer = ask(read);
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    add("large", LARGE, LARGE + 1);
    assertThat(elementsOfFirst(answer.reply())).isEqualTo(LARGE + 1);
    assertThat(elementsOfFirst(ask(read).reply())).as("sent again").isEqualTo(LARGE + 1);
    Request repeat = new Request.Repeat(SELF, 0, read);
    assertThat(elementsOfFirst(ask(repeat).reply())).as("repeated").isEqualTo(LARGE + 1);
    Request commit = Requests.step("k", TX, 2, List.of(), List.of(), Request.End.COMMIT);
    assertThat(((Reply.Transacted) ask(commit).reply()).dot()).isPresent();
    assertThat(elements(ask(read("large", CrdtType.AW_SET, new Query.Whole())).reply()))
        .as("added once")
        .isEqualTo(LARGE + 2);
  }

  /** What it did before it was removed, and under which numbers, it does not know any more. */
  @Test
  void stepThatIsAskedForAgain_isAnsweredByTheTermThatItWasSentTo_andDoneByNoOther() {
    ReplicaId holder = HolderTerms.in(SELF, Map.of("eu", 1));
    Partition again = started(holder);
    Request.Transact commit = commit(List.of(addition("large", "own")));
    Reply first = ask(again, commit).reply();
    assertThat(first).isInstanceOf(Reply.Transacted.class);
    Reply.Transacted repeated =
        (Reply.Transacted) ask(again, new Request.Repeat(holder, 0, commit)).reply();
    assertThat(repeated.dot()).isEqualTo(((Reply.Transacted) first).dot());
    Reply former = ask(started(holder), new Request.Repeat(SELF, 0, commit)).reply();
    assertThat(former).is(Failed.with(ErrorCode.TRANSACTION_FORGOTTEN));
  }

  private static Request.Transact commit(List<Request.Update> updates) {
    return new Request.Transact(
        "k",
        TX,
        1,
        Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 10_000)),
        updates,
        List.of(fetch("large", new Query.Whole())),
        Request.End.COMMIT);
  }

  /** As a session reads several objects of one snapshot. */
  @Test
  void readsThatCommitNothing_areAnsweredLater() {
    add("large", 0, LARGE);
    Effects.ToClient answer = ask(commit(List.of()));
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    assertThat(elementsOfFirst(answer.reply())).isEqualTo(LARGE);
  }

  /** What was committed cannot be taken back because something cannot be read. */
  @Test
  void readsThatCommitSomething_areMadeBefore() {
    add("large", 0, LARGE);
    Effects.ToClient answer = ask(commit(List.of(addition("large", "own"))));
    assertThat(answer).isInstanceOf(Effects.Answer.class);
    assertThat(elementsOfFirst(answer.reply())).isEqualTo(LARGE + 1);
  }

  /** Its client was told that the answer was too large, and goes on as if it had not been done. */
  @Test
  void stepThatOnlyReads_isDoneAnew_withWhateverIsAskedThen() {
    add("large", 0, LARGE);
    ask(step(1, List.of(), List.of(fetch("large", new Query.Whole()))));
    Reply other =
        ask(step(1, List.of(addition("other", "one")), List.of(fetch("other", new Query.Whole()))))
            .reply();
    assertThat(elementsOfFirst(other)).isEqualTo(1);
  }

  /** It could not be told what it asked for, so nothing of it may be done. */
  @Test
  void stepWithUpdates_thatReadsMoreThanAnAnswerHolds_isRefused_andNothingIsDone() {
    Value large = Value.of(new byte[8 << 20]);
    Request write =
        Requests.write("k", Key.of("large"), CrdtType.LWW_REGISTER, new Operation.Assign(large));
    assertThat(ask(write).reply()).isInstanceOf(Reply.Done.class);
    Request.Fetch fetch =
        new Request.Fetch(Key.of("large"), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole());
    List<Request.Fetch> tooMany = Collections.nCopies(9, fetch);
    ask(step(1, List.of(), List.of()));
    assertThat(codeOf(ask(step(2, List.of(addition("a", "one")), tooMany)).reply()))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    Reply next = ask(step(2, List.of(), List.of(fetch("a", new Query.Whole())))).reply();
    assertThat(elementsOfFirst(next)).isZero();
  }

  /** Many pages of one set would take gigabytes before anybody saw that they are too much. */
  @Test
  void stepThatReadsMoreThanAnAnswerHolds_isRefused_beforeAllIsRead() {
    Operation add =
        new Operation.Add(List.of(Value.of(new byte[1 << 20]), Value.of(new byte[1 << 19])));
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    List<CrdtState> states = List.of(empty.join(empty.prepare(add, SELF, 1, 0, 1, 0)));
    List<Request.Fetch> tooMany = Collections.nCopies(10_000, fetch("pages", page(2)));
    StepReads reads = new StepReads(() -> 0);
    int[] read = {0};
    refused(
        ErrorCode.VALUE_TOO_LARGE,
        () -> {
          for (Request.Fetch fetch : tooMany) {
            reads.add(states, fetch);
            read[0]++;
          }
        });
    assertThat(read[0]).isEqualTo(43); // of 1.5 MiB, where 65 MiB have room

    write("pages", CrdtType.AW_SET, add);
    ask(step(1, List.of(), List.of()));
    assertThat(codeOf(ask(step(2, List.of(), tooMany)).reply()))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(codeOf(ask(step(2, List.of(addition("pages", "own")), tooMany)).reply()))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    Reply next = ask(step(2, List.of(), List.of(fetch("pages", page(9))))).reply();
    assertThat(elementsOfFirst(next)).isEqualTo(2);
  }

  /** Told that nothing was done, its client would do its updates once more, or go on without. */
  @Test
  void stepWithUpdates_thatIsSentAgain_andCannotBeToldWhatItReads_endsItsTransaction() {
    write(
        "pages",
        CrdtType.AW_SET,
        new Operation.Add(List.of(Value.of(new byte[1 << 20]), Value.of(new byte[1 << 19]))));
    List<Request.Update> updates = List.of(addition("a", "one"));
    assertThat(ask(step(1, updates, List.of())).reply()).isInstanceOf(Reply.Transacted.class);
    Reply again = ask(step(1, updates, Collections.nCopies(100, fetch("pages", page(2))))).reply();
    assertThat(again)
        .is(Failed.with(ErrorCode.TRANSACTION_ENDED, "updates of its step 1 were done before"));
    for (Request.End end : Request.End.values()) {
      Request.Transact next = Requests.step("k", TX, 2, List.of(), List.of(), end);
      assertThat(codeOf(ask(next).reply())).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    }
    assertThat(elements(ask(read("a", CrdtType.AW_SET, new Query.Whole())).reply())).isZero();
  }

  /** In the heap they are ten times as large. */
  @Test
  void answersOfSmallElements_countAsTheyAreEncoded() {
    write(
        "small",
        CrdtType.AW_SET,
        new Operation.Add(IntStream.range(0, 10_000).mapToObj(Value::of).toList()));
    List<Request.Fetch> many = Collections.nCopies(500, fetch("small", page(10_000)));
    Reply reply = ask(step(1, List.of(addition("other", "own")), many)).reply();
    assertThat(((Reply.Transacted) reply).answers()).hasSize(500);
    List<Request.Fetch> tooMany = Collections.nCopies(3_000, fetch("small", page(10_000)));
    assertThat(codeOf(ask(step(2, List.of(), tooMany)).reply()))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
  }

  /** It has done nothing, so its transaction goes on. */
  @Test
  void stepThatOnlyReads_andIsTooLargeWhenItIsAnswered_isRefused() {
    write("large", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(new byte[8 << 20])));
    Request.Fetch fetch =
        new Request.Fetch(Key.of("large"), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole());
    ask(step(1, List.of(), List.of()));
    Effects.ToClient answer = ask(step(2, List.of(), Collections.nCopies(9, fetch)));
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    assertThat(codeOf(answer.reply())).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    Reply next = ask(step(2, List.of(), Collections.nCopies(8, fetch))).reply();
    assertThat(((Reply.Transacted) next).answers()).hasSize(8);
  }

  /** By that its transaction has ended: its client must not read fewer in one that is over. */
  @Test
  void commitThatReadsTooMuch_isNotSaidToHaveDoneNothing() {
    write("large", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(new byte[8 << 20])));
    Request.Fetch fetch =
        new Request.Fetch(Key.of("large"), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole());
    ask(step(1, List.of(), List.of()));
    Request commit =
        Requests.step("k", TX, 2, List.of(), Collections.nCopies(9, fetch), Request.End.COMMIT);
    assertThat(codeOf(ask(commit).reply())).isEqualTo(ErrorCode.TRANSACTION_ENDED);
  }

  /** Its client must not go on as if it had not been done: its updates were. */
  @Test
  void stepThatReadWhatWasNotKept_endsItsTransaction() {
    Lost source = new Lost();
    CrdtState set = set();
    Value one = Value.of("one");
    CrdtState added = set.join(set.prepare(new Operation.Add(List.of(one)), SELF, 2, 1, 0, 0));
    StepReads reads = new StepReads(() -> 0);
    reads.add(
        List.of(Decomposition.rebased(added, set, source)), fetch("large", new Query.Whole()));
    assertThat(reads.isLong()).isTrue();
    Supplier<Reply> reply =
        reads.later(a -> new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), a), true);
    source.fault = new StackOverflowError("deep");
    assertThat(codeOf(reply.get())).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    source.fault = null;
    assertThat(elementsOfFirst(reply.get())).isOne();
    source.isLost = true;
    assertThat(codeOf(reply.get())).isEqualTo(ErrorCode.TRANSACTION_ENDED);
  }

  private int openTransactions() {
    Effects effects = partition.step(new Input.Inspect(1, 1), new Now(nanos, 1));
    return effects.atOnce().getFirst().report().snapshots().openTransactions();
  }

  /** Before, the partition kept its snapshot until its time was over, and went on with it. */
  @Test
  void stepThatCouldNotBeTold_endsItsTransactionHere_too() {
    add("large", 0, LARGE);
    Effects.LongAnswer committed = (Effects.LongAnswer) ask(commit(List.of()));
    assertThat(committed.follows(new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "lost")))
        .as("of what has ended by itself")
        .isEmpty();
    Request.Fetch whole = fetch("large", new Query.Whole());
    Effects.LongAnswer answer =
        (Effects.LongAnswer) ask(step(1, List.of(addition("large", "own")), List.of(whole)));
    assertThat(openTransactions()).isOne();
    assertThat(answer.follows(answer.reply())).isEmpty();
    assertThat(answer.follows(new Reply.Failure(ErrorCode.VALUE_TOO_LARGE, "read fewer")))
        .as("it has done nothing")
        .isEmpty();
    Input untold =
        answer
            .follows(new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "not kept any more"))
            .orElseThrow();
    partition.on(untold, new Now(nanos, 1));
    assertThat(openTransactions()).isZero();
    assertThat(ask(step(1, List.of(addition("large", "own")), List.of(whole))).reply())
        .as("sent again")
        .is(
            Failed.with(
                ErrorCode.TRANSACTION_ENDED, "what its step 1 reads could not be answered"));
    partition.on(untold, new Now(nanos, 1)); // it has ended
  }

  /** As a first step that is refused at once: it begins nothing. */
  @Test
  void firstStepThatIsTooLargeWhenItIsAnswered_endsItsTransaction() {
    write("large", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(new byte[8 << 20])));
    Request.Fetch fetch =
        new Request.Fetch(Key.of("large"), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole());
    Effects.LongAnswer answer =
        (Effects.LongAnswer) ask(step(1, List.of(), Collections.nCopies(9, fetch)));
    Reply reply = answer.reply();
    assertThat(codeOf(reply)).isEqualTo(ErrorCode.TRANSACTION_ENDED);
    assertThat(answer.follows(reply)).isPresent();
  }
}
