package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** All of a large object is read by somebody else than the partition, as it was at that moment. */
final class LongReadsTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int LARGE = 10_000;

  private final Partition partition =
      Partitions.started(
          SELF,
          List.of(),
          KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
          new MemoryStore(),
          new Now(1, 1));

  private long nanos = 1;
  private long tickets;

  private Effects.ToClient ask(Request request) {
    nanos += 1_000;
    return partition
        .step(new Input.Command(++tickets, request), new Now(nanos, 1))
        .whenDurable()
        .stream()
        .filter(Effects.ToClient.class::isInstance)
        .map(Effects.ToClient.class::cast)
        .findFirst()
        .orElseThrow();
  }

  private void add(String key, int from, int to) {
    List<Value> elements =
        IntStream.range(from, to).mapToObj(i -> Value.of("element " + i)).toList();
    Request write = Requests.write("k", Key.of(key), CrdtType.AW_SET, new Operation.Add(elements));
    assertThat(ask(write).reply()).isInstanceOf(Reply.Done.class);
  }

  private static Request.Read read(String key, CrdtType type, Query query) {
    return Requests.read("k", Key.of(key), type, query);
  }

  private static Request.Fetch fetch(String key, Query query) {
    return new Request.Fetch(Key.of(key), Optional.of(CrdtType.AW_SET), query);
  }

  private static int elements(Reply reply) {
    return ((Reading.Many) ((Reply.Answer) reply).reading().orElseThrow()).values().size();
  }

  @Test
  void allOfALargeSet_isReadLater_asItWas() {
    add("large", 0, LARGE);
    Effects.ToClient answer = ask(read("large", CrdtType.AW_SET, new Query.Whole()));
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    add("large", LARGE, LARGE + 1);
    assertThat(elements(answer.reply())).isEqualTo(LARGE);
  }

  private static int fields(Reply reply) {
    return ((Reading.Fields) ((Reply.Answer) reply).reading().orElseThrow()).fields().size();
  }

  /** It may be as much as all of it; a page of usual size is none of that. */
  @Test
  void manyFieldsOfALargeMap_areReadLater() {
    List<Operation.FieldUpdate> updates =
        IntStream.range(0, LARGE)
            .mapToObj(i -> new FieldId("f" + i, CrdtType.EW_FLAG))
            .map(f -> new Operation.FieldUpdate(f, new Operation.SetFlag(true)))
            .toList();
    for (String key : List.of("small", "large")) {
      Operation update =
          new Operation.UpdateFields(key.equals("small") ? updates.subList(0, 10) : updates);
      ask(Requests.write("k", Key.of(key), CrdtType.OR_MAP, update));
    }
    List<String> names = updates.stream().map(u -> u.field().name()).toList();
    Query many = new Query.Select(names.subList(0, 101));
    Query range = page(1_001);
    assertThat(fields(asked("large", many, Effects.LongAnswer.class))).isEqualTo(101);
    assertThat(fields(asked("large", range, Effects.LongAnswer.class))).isEqualTo(1_001);
    assertThat(fields(asked("small", many, Effects.Answer.class))).isEqualTo(10);
    assertThat(fields(asked("small", range, Effects.Answer.class))).isEqualTo(10);
    Query few = new Query.Select(names.subList(0, 100));
    Query page = page(1_000);
    assertThat(fields(asked("large", few, Effects.Answer.class))).isEqualTo(100);
    assertThat(fields(asked("large", page, Effects.Answer.class))).isEqualTo(1_000);
  }

  @Test
  void pageOfLargeElements_isReadLater() {
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    List<Value> large =
        IntStream.range(0, 20).mapToObj(i -> Value.of(i + "x".repeat(50_000))).toList();
    CrdtState set = empty.join(empty.prepare(new Operation.Add(large), SELF, 1, 0, 1, 0));
    assertThat(Reads.isLong(List.of(set), page(6))).isTrue();
    assertThat(Reads.isLong(List.of(set), page(5))).isFalse();
    add("large", 0, LARGE);
    assertThat(ask(read("large", CrdtType.AW_SET, page(1_000)))).isInstanceOf(Effects.Answer.class);
  }

  private static Operation.FieldUpdate flags(String field, int count) {
    return new Operation.FieldUpdate(
        new FieldId(field, CrdtType.OR_MAP),
        new Operation.UpdateFields(
            IntStream.range(0, count)
                .mapToObj(i -> new FieldId("f" + i, CrdtType.EW_FLAG))
                .map(f -> new Operation.FieldUpdate(f, new Operation.SetFlag(true)))
                .toList()));
  }

  private static Query named(String... names) {
    return new Query.Select(List.of(names));
  }

  /** It may be as much as a whole object. */
  @Test
  void largeField_isReadLater_whoeverAsksForItByItsName() {
    write(
        "map",
        CrdtType.OR_MAP,
        new Operation.UpdateFields(List.of(flags("large", LARGE), flags("small", 2))));
    assertThat(fields(asked("map", named("none", "large"), Effects.LongAnswer.class))).isOne();
    assertThat(fields(asked("map", named("small", "none"), Effects.Answer.class))).isOne();
  }

  /** To look how large one is costs what reading it costs, so nobody looks. */
  @Test
  void fieldOutsideTheHeap_isTakenForAnAverageOne() {
    Lost source = new Lost();
    List<Operation.FieldUpdate> few = List.of(flags("a", LARGE), flags("b", LARGE));
    List<Operation.FieldUpdate> many =
        IntStream.range(0, LARGE).mapToObj(i -> flags("f" + i, 1)).toList();
    assertThat(Reads.isLong(outside(few, source), named("a"))).isTrue();
    assertThat(Reads.isLong(outside(many, source), named("f1", "f2"))).isFalse();
    assertThat(source.gets).isZero();
  }

  private static List<CrdtState> outside(List<Operation.FieldUpdate> fields, EntrySource source) {
    CrdtState empty = CrdtState.bottom(CrdtType.OR_MAP);
    CrdtState map =
        Decomposition.of(
            empty.join(empty.prepare(new Operation.UpdateFields(fields), SELF, 1, 0, 1, 0)));
    return List.of(Decomposition.rebased(map, map, source));
  }

  private Reply asked(String key, Query query, Class<?> how) {
    Effects.ToClient answer = ask(read(key, CrdtType.OR_MAP, query));
    assertThat(answer).isInstanceOf(how);
    return answer.reply();
  }

  @Test
  void whatIsShort_isAnsweredAtOnce() {
    add("small", 0, 10);
    add("large", 0, LARGE);
    Query one = new Query.Contains(Value.of("element 1"));
    for (Request request :
        List.of(
            read("small", CrdtType.AW_SET, new Query.Whole()),
            read("large", CrdtType.AW_SET, new Query.Size()),
            read("large", CrdtType.AW_SET, one),
            new Request.ReadAll(
                "k",
                List.of(fetch("small", new Query.Whole()), fetch("large", one)),
                VersionVector.EMPTY,
                false,
                0))) {
      assertThat(ask(request)).isInstanceOf(Effects.Answer.class);
    }
  }

  @Test
  void severalReads_oneOfThemLong_areReadLater_asTheyWere() {
    add("small", 0, 10);
    add("large", 0, LARGE);
    Request all =
        new Request.ReadAll(
            "k",
            List.of(
                fetch("small", new Query.Whole()),
                fetch("large", new Query.Whole()),
                fetch("none", new Query.Whole())),
            VersionVector.EMPTY,
            false,
            0);
    Effects.ToClient answer = ask(all);
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    add("small", 10, 11);
    assertThat(((Reply.All) answer.reply()).parts())
        .extracting(LongReadsTest::elements)
        .containsExactly(10, LARGE, 0);
  }

  @Test
  void longRead_ofAnotherType_isRefused() {
    add("large", 0, LARGE);
    assertThat(ask(read("large", CrdtType.PN_COUNTER, new Query.Whole())).reply())
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.WRONG_TYPE));
  }

  /** Of a version that may be lost while it is read. */
  private static final class Lost implements EntrySource {
    boolean isLost;
    int reads;
    int gets;
    @Nullable Error fault;

    @Override
    public byte @Nullable [] get(byte[] key) {
      gets++;
      return null;
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      reads++;
      if (fault != null) {
        throw fault;
      }
      return List.of();
    }

    @Override
    public List<ReplicaId> replicas() {
      return List.of(SELF);
    }

    @Override
    public boolean hold(int millis, boolean isPresent) {
      return !isLost;
    }
  }

  /** A process that was asleep meanwhile may have read some of it from a later version. */
  @Test
  void longRead_ofWhatWasNotKept_isRefused() {
    Lost source = new Lost();
    CrdtState set = set();
    List<CrdtState> states = List.of(Decomposition.rebased(set, set, source));
    Request.Read read = read("large", CrdtType.AW_SET, new Query.Whole());
    Supplier<Reply> reply = Reads.later(states, read, () -> 0);
    assertThat(elements(reply.get())).isZero();
    source.isLost = true;
    assertThat(reply.get())
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.TIMEOUT));
  }

  /** Whoever waits behind many others may wait for so long that it is in vain. */
  @Test
  void longRead_ofWhatIsNotKeptAnyMore_readsNothing() {
    Lost source = new Lost();
    Supplier<Reply> reply = readOf(source);
    source.isLost = true;
    assertThat(codeOf(reply.get())).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(source.reads).isZero();
  }

  /** A set of which an element may lie outside: whether it does is asked. */
  private static CrdtState set() {
    CrdtState set = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of("outside")));
    return Decomposition.of(set.join(set.prepare(add, SELF, 1, 0, 0, 0)));
  }

  private static Supplier<Reply> readOf(Lost source) {
    CrdtState set = set();
    return Reads.later(
        List.of(Decomposition.rebased(set, set, source)),
        read("large", CrdtType.AW_SET, new Query.Whole()),
        () -> 0);
  }

  /** Nobody else would answer, or give back what the command takes. */
  @Test
  void longRead_thatFailsWithAnError_isAnswered() {
    Lost source = new Lost();
    source.fault = new StackOverflowError("deep");
    assertThat(codeOf(readOf(source).get())).isEqualTo(ErrorCode.INTERNAL);
    assertThat(source.reads).isOne();
  }

  /** Whoever embeds a datacenter, or runs it, decides what is done then. */
  @Test
  void longRead_thatRunsOutOfMemory_isAnswered_andReported() throws InterruptedException {
    Lost source = new Lost();
    source.fault = new OutOfMemoryError("of this test");
    AtomicReference<Throwable> reported = new AtomicReference<>();
    AtomicReference<Reply> reply = new AtomicReference<>();
    Thread reader = new Thread(() -> reply.set(readOf(source).get()));
    reader.setUncaughtExceptionHandler((thread, error) -> reported.set(error));
    reader.start();
    reader.join();
    assertThat(reported).hasValue(source.fault);
    assertThat(codeOf(requireNonNull(reply.get()))).isEqualTo(ErrorCode.INTERNAL);
  }

  // ---------------------------------------------------------------- in transactions

  private static final TransactionId TX = new TransactionId(1, 2);

  private static Request.Transact step(
      int number, List<Request.Update> updates, List<Request.Fetch> reads) {
    Optional<Request.Begin> begin =
        number == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 10_000))
            : Optional.empty();
    return new Request.Transact("k", TX, number, begin, updates, reads, Request.End.OPEN);
  }

  private static Request.Update addition(String key, String element) {
    return new Request.Update(
        Key.of(key), CrdtType.AW_SET, new Operation.Add(List.of(Value.of(element))));
  }

  private static int elementsOfFirst(Reply reply) {
    return elements(((Reply.Transacted) reply).answers().getFirst());
  }

  private static ErrorCode codeOf(Reply reply) {
    return ((Reply.Failure) reply).code();
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

  private static Query page(int limit) {
    return new Query.Range(Optional.empty(), Optional.empty(), false, limit);
  }

  private void write(String key, CrdtType type, Operation operation) {
    Request write = Requests.write("k", Key.of(key), type, operation);
    assertThat(ask(write).reply()).isInstanceOf(Reply.Done.class);
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
    assertThatThrownBy(
            () -> {
              for (Request.Fetch fetch : tooMany) {
                reads.add(states, fetch);
                read[0]++;
              }
            })
        .is(Refused.with(ErrorCode.VALUE_TOO_LARGE));
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
        .isInstanceOfSatisfying(
            Reply.Failure.class,
            f -> {
              assertThat(f.code()).isEqualTo(ErrorCode.TRANSACTION_ENDED);
              assertThat(f.message()).contains("updates of its step 1 were done before");
            });
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
        .isInstanceOfSatisfying(
            Reply.Failure.class,
            f -> {
              assertThat(f.code()).isEqualTo(ErrorCode.TRANSACTION_ENDED);
              assertThat(f.message()).contains("what its step 1 reads could not be told");
            });
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
