package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** All of a large object is read by somebody else than the partition, as it was at that moment. */
final class LongReadsTest extends LongReadsFixture {
  @Test
  void allOfALargeSet_isReadLater_asItWas() {
    add("large", 0, LARGE);
    Effects.ToClient answer = ask(read("large", CrdtType.AW_SET, new Query.Whole()));
    assertThat(answer).isInstanceOf(Effects.LongAnswer.class);
    add("large", LARGE, LARGE + 1);
    assertThat(elements(answer.reply())).isEqualTo(LARGE);
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
        .extracting(LongReadsFixture::elements)
        .containsExactly(10, LARGE, 0);
  }

  @Test
  void longRead_ofAnotherType_isRefused() {
    add("large", 0, LARGE);
    assertThat(ask(read("large", CrdtType.PN_COUNTER, new Query.Whole())).reply())
        .is(Failed.with(ErrorCode.WRONG_TYPE));
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
    assertThat(reply.get()).is(Failed.with(ErrorCode.TIMEOUT));
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
}
