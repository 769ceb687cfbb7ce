package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.TypeRegistry;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * Whatever a client can encode, meaningful or not, gets exactly one answer; a failure changes
 * nothing, and an acknowledged update has a dot that no other has. A request that made the machine
 * throw would stop one datacenter after the other, since clients try elsewhere.
 */
final class HostileRequestProperties {
  private static final int REQUESTS = 60;

  /** Between two requests: what expires is removed a few of them later. */
  private static final long PAUSE_MILLIS = 200;

  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final KeyspacePolicy POLICY =
      KeyspacePolicy.causal("k", Duration.ofSeconds(1))
          .with(new KeyspacePolicy.Limits(64, 256, 2_048));

  private static final class Outputs {
    final List<Reply> replies = new ArrayList<>();
    final List<Shipment> journal = new ArrayList<>();
    @Nullable PartitionReport report;

    void take(Effects effects) {
      for (Effects.Recorded record : effects.records()) {
        if (record instanceof Effects.Applied a) {
          journal.add(a.update());
        }
      }
      for (Effects.Output output : effects.whenDurable()) {
        if (output instanceof Effects.ToClient a) {
          replies.add(a.reply());
        }
      }
      effects.atOnce().forEach(r -> report = r.report());
    }
  }

  @Property(tries = 1_500)
  void everyRequest_isAnsweredOnce_andAFailureChangesNothing(
      @ForAll("requests") List<Request> requests) {
    MemoryStore store = new MemoryStore();
    Partition partition = Partitions.started(SELF, List.of(), POLICY, store, new Now(1, 1));
    Outputs out = new Outputs();
    long last = 0;
    for (int i = 1; i <= requests.size(); i++) {
      // As it comes off the wire.
      byte[] encoded = ProtocolCodec.encode(i, requests.get(i - 1));
      Request request = ProtocolCodec.decodeRequest(encoded).message();
      long millis = i * PAUSE_MILLIS;
      View before = View.of(store, millis);
      Reply reply = handle(partition, request, i, out);
      ProtocolCodec.decodeReply(ProtocolCodec.encode(i, reply));
      if (reply instanceof Reply.Transacted transacted) {
        last = Math.max(last, transacted.dot().map(Dot::number).orElse(0L)); // or sent again
      } else if (reply instanceof Reply.All all) {
        last = ofParts(request, all, last, View.of(store, millis), before);
      } else if (reply instanceof Reply.Evaluated evaluated) {
        last = ofProgram((Request.Evaluate) request, evaluated, last);
        if (evaluated.dot().isEmpty()) {
          assertThat(View.of(store, millis).shown()).as("%s", request).isEqualTo(before.shown());
        }
      } else if (reply instanceof Reply.Done done) {
        assertThat(done.dot().number()).as("dot of %s", request).isGreaterThan(last);
        last = done.dot().number();
        answersWhatWasAsked((Request.Write) request, done, before, View.of(store, millis));
        assertThat(isMet((Request.Write) request, before)).as("%s", request).isTrue();
        Shipment shipment = out.journal.getLast();
        Frame frame =
            new Frame.Updates(
                Frame.Kind.OPS,
                1,
                1,
                1,
                VersionVector.EMPTY,
                Optional.empty(),
                false,
                1,
                List.of(shipment));
        assertThat(FrameCodec.decode(SELF, FrameCodec.encode(SELF, frame))).isEqualTo(frame);
      } else {
        assertThat(View.of(store, millis).shown())
            .as("after %s", request)
            .isEqualTo(before.shown());
        if (request instanceof Request.Write write && reply instanceof Reply.Answer) {
          boolean had = isMet(write, before) && hasToDo(write, before);
          assertThat(had).as("%s", request).isFalse();
        }
        if (reply instanceof Reply.Failure failure) {
          assertThat(failure.code()).as(failure.message()).isNotEqualTo(ErrorCode.INTERNAL);
        }
      }
      out.take(partition.step(new Input.Tick(), now(i)));
      out.take(partition.step(new Input.Inspect(0, 1), now(i)));
      long committed = requireNonNull(out.report).content().committed();
      if (requests.stream().noneMatch(HostileRequestProperties::givesDeadlines)) {
        assertThat(committed).isEqualTo(last); // otherwise what has expired was removed as well
      }
      last = Math.max(last, committed);
      for (StoredObjects.Entry entry : store.scan(Optional.empty(), 100)) {
        CrdtState state = entry.state();
        assertThat(state.read(new Query.Whole())).isNotNull();
      }
    }
  }

  private static Now now(int i) {
    return new Now(i * PAUSE_MILLIS * 1_000_000, i * PAUSE_MILLIS);
  }

  private static boolean givesDeadlines(Request request) {
    List<Operation> all =
        switch (request) {
          case Request.Write w -> List.of(w.operation());
          case Request.WriteAll w -> operations(w.updates());
          case Request.Transact t -> operations(t.updates());
          case Request.Repeat r -> operations(r.step().updates());
          case Request.Evaluate e ->
              e.calls().stream().flatMap(c -> operation(c).stream()).toList();
          default -> List.of();
        };
    return all.stream().anyMatch(Operation::givesDeadline);
  }

  private static Optional<Operation> operation(Call call) {
    return switch (call) {
      case Call.Update c -> Optional.of(c.operation());
      case Call.Replace c -> Optional.of(c.operation());
      case Call.ExpireIf c -> Optional.of(c.deadline());
      default -> Optional.empty();
    };
  }

  /** Its calls are answered each, and all that changed something by the number of the last. */
  private static long ofProgram(Request.Evaluate program, Reply.Evaluated evaluated, long last) {
    assertThat(evaluated.parts()).as("%s", program).hasSameSizeAs(program.calls());
    boolean anyDone = false;
    for (Reply part : evaluated.parts()) {
      switch (part) {
        case Reply.Done done -> {
          anyDone = true;
          assertThat(Optional.of(done.dot())).isEqualTo(evaluated.dot());
        }
        case Reply.Failure f ->
            assertThat(f.code()).as(f.message()).isNotEqualTo(ErrorCode.INTERNAL);
        default -> {}
      }
    }
    assertThat(evaluated.dot().isPresent()).as("%s", program).isEqualTo(anyDone);
    assertThat(evaluated.held() || !anyDone).as("%s", program).isTrue();
    evaluated.dot().ifPresent(dot -> assertThat(dot.number()).isGreaterThan(last));
    return evaluated.dot().map(Dot::number).orElse(last);
  }

  private static List<Operation> operations(List<Request.Update> updates) {
    return updates.stream().map(Request.Update::operation).toList();
  }

  /**
   * What is stored, for a reader at a time.
   *
   * @param all also what has expired, which may be removed at any moment
   */
  private record View(List<StoredObjects.Entry> all, long millis) {
    static View of(MemoryStore store, long millis) {
      return new View(store.scan(Optional.empty(), 100), millis);
    }

    List<StoredObjects.Entry> shown() {
      return all.stream().filter(e -> !e.state().isOver(millis)).toList();
    }

    /** What there is of a key. */
    List<CrdtState> of(Key key) {
      return shown().stream()
          .filter(e -> e.object().key().equals(key))
          .map(StoredObjects.Entry::state)
          .filter(s -> !s.isBottom())
          .toList();
    }

    CrdtState state(Request.Write write) {
      return all.stream()
          .filter(e -> e.object().equals(new ObjectId(write.key(), write.type())))
          .map(e -> e.state().at(millis))
          .findFirst()
          .orElseGet(() -> CrdtState.bottom(write.type()));
    }
  }

  /** Whether there is something that it concerns: what is not there is not removed, say. */
  private static boolean hasToDo(Request.Write write, View before) {
    return !write.operation().isOfKey()
        || before.of(write.key()).stream()
            .anyMatch(
                s ->
                    !(write.operation() instanceof Operation.Persist)
                        || s.deadline() != CrdtState.NEVER);
  }

  /** Each part by itself: those that are done have their dots, and the others changed nothing. */
  private static long ofParts(Request request, Reply.All all, long last, View after, View before) {
    long latest = last;
    for (Reply part : all.parts()) {
      switch (part) {
        case Reply.Done done -> {
          assertThat(done.dot().number()).as("dot in %s", request).isGreaterThan(latest);
          latest = done.dot().number();
        }
        case Reply.Failure f ->
            assertThat(f.code()).as(f.message()).isNotEqualTo(ErrorCode.INTERNAL);
        default -> {}
      }
    }
    if (request instanceof Request.WriteAll write) {
      assertThat(all.parts()).hasSameSizeAs(write.updates());
    } else {
      assertThat(all.parts()).hasSameSizeAs(((Request.ReadAll) request).reads());
    }
    if (latest == last) {
      assertThat(after.shown()).as("after %s", request).isEqualTo(before.shown());
    }
    return latest;
  }

  /** The object as it was before the update, or as it is after it. */
  private static void answersWhatWasAsked(
      Request.Write write, Reply.Done done, View before, View after) {
    assertThat(done.answer().isPresent()).isEqualTo(write.ask().isPresent());
    if (write.operation().isOfKey()) {
      // A deletion also takes what no reader is shown any more.
      boolean deletes = write.operation() instanceof Operation.Delete;
      assertThat(deletes || hasToDo(write, before)).as("%s", write).isTrue();
      leavesWhatItSays(write, after);
      return;
    }
    if (write.ask().isPresent()) {
      Request.Ask ask = write.ask().get();
      CrdtState state = (ask.before() ? before : after).state(write);
      Reply.Answer answer = done.answer().orElseThrow();
      assertThat(answer.reading()).as("%s", write).contains(read(state, ask.query(), after.millis));
      assertThat(answer.exists()).isEqualTo(!state.isBottom());
      assertThat(answer.seen()).isEqualTo(state.context().toVersionVector());
    }
  }

  /** What is left of a key behind a deletion, a deadline, or where one was taken away. */
  private static void leavesWhatItSays(Request.Write write, View after) {
    List<CrdtState> left = after.of(write.key());
    switch (write.operation()) {
      case Operation.Delete o -> assertThat(left).isEmpty();
      case Operation.Expire o ->
          assertThat(left).allMatch(s -> s.deadline() == o.from(after.millis).millis());
      default -> assertThat(left).allMatch(s -> s.deadline() == CrdtState.NEVER);
    }
  }

  private static Reading read(CrdtState state, Query query, long millis) {
    return query instanceof Query.TimeToLive
        ? new Reading.Count(state.expires() ? state.deadline() - millis : -1)
        : state.read(query);
  }

  /** By the value as a whole, where it is of a field. */
  private static boolean isMet(Request.Write write, View before) {
    if (write.condition().isEmpty()) {
      return true;
    }
    Request.Condition condition = write.condition().get();
    CrdtState state = before.state(write);
    if (condition.path().isEmpty()) {
      return read(state, condition.query(), before.millis).equals(condition.expected());
    }
    Reading at = state.read(new Query.Whole());
    for (FieldId field : condition.path()) {
      at =
          at instanceof Reading.Fields f && f.fields().containsKey(field)
              ? requireNonNull(f.fields().get(field))
              : CrdtState.bottom(field.type()).read(new Query.Whole());
    }
    return at.equals(condition.expected());
  }

  private static Reply handle(Partition partition, Request request, int i, Outputs out) {
    if (request instanceof Request.Write write) {
      try {
        OperationLimits.check(write.operation(), POLICY.limits());
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    Request step = request instanceof Request.Repeat repeat ? repeat.step() : request;
    if (step instanceof Request.Transact transact) {
      try {
        transact.updates().forEach(u -> OperationLimits.check(u.operation(), POLICY.limits()));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    if (request instanceof Request.WriteAll batch) {
      try {
        batch.updates().forEach(u -> OperationLimits.check(u.operation(), POLICY.limits()));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    if (request instanceof Request.Evaluate program) {
      try {
        program
            .calls()
            .forEach(c -> operation(c).ifPresent(o -> OperationLimits.check(o, POLICY.limits())));
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    int answered = out.replies.size();
    out.take(partition.step(new Input.Command(i, request), now(i)));
    assertThat(out.replies).as("one answer to %s", request).hasSize(answered + 1);
    return out.replies.getLast();
  }

  // ---------------------------------------------------------------- what may come

  private static final Arbitrary<Long> NUMBERS =
      Arbitraries.of(0L, 1L, -1L, 7L, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, 1L << 32);

  private static final Arbitrary<Double> REALS =
      Arbitraries.of(0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.MIN_VALUE, -1.5);

  private static final Arbitrary<Value> VALUES =
      Arbitraries.oneOf(
          NUMBERS.map(Value::of),
          REALS.map(Value::of),
          upTo(2).map(n -> Value.of(new byte[n])),
          upTo(299).map(n -> Value.of("x".repeat(n))),
          Arbitraries.of("", "a", "b").map(Value::of));

  private static final Arbitrary<String> NAMES = Arbitraries.of("f", "g", "h".repeat(100));
  private static final Arbitrary<CrdtType> TYPES = Arbitraries.of(CrdtType.values());
  private static final Arbitrary<Key> KEYS = upTo(7).map(n -> Key.of("k" + n));
  private static final Arbitrary<Boolean> EITHER = Arbitraries.of(true, false);

  private static Arbitrary<Integer> upTo(int max) {
    return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
  }

  @Provide
  Arbitrary<List<Request>> requests() {
    Arbitrary<Request> writes =
        Combinators.combine(KEYS, TYPES, operations(0), asks().optional(0.5))
            .as(
                (key, type, op, ask) ->
                    new Request.Write("k", key, type, op, VersionVector.EMPTY, 0, ask));
    Arbitrary<Request> conditional =
        Combinators.combine(KEYS, TYPES, operations(0), conditions())
            .as(
                (key, type, op, condition) ->
                    new Request.Write(
                        "k",
                        key,
                        type,
                        op,
                        VersionVector.EMPTY,
                        0,
                        Optional.empty(),
                        Optional.of(condition)));
    Arbitrary<Request> readAlls =
        fetches()
            .list()
            .ofMaxSize(3)
            .map(some -> new Request.ReadAll("k", some, VersionVector.EMPTY, false, 0));
    Arbitrary<Request> writeAlls =
        updates()
            .list()
            .ofMaxSize(3)
            .map(some -> new Request.WriteAll("k", some, VersionVector.EMPTY, 0));
    Arbitrary<Request> repeats =
        Combinators.combine(upTo(19), transactions())
            .as((number, transact) -> new Request.Repeat(SELF, number, transact));
    return Arbitraries.frequencyOf(
            Tuple.of(1, reads()),
            Tuple.of(1, transactions()),
            Tuple.of(1, repeats),
            Tuple.of(1, readAlls),
            Tuple.of(1, writeAlls),
            Tuple.of(1, conditional),
            Tuple.of(2, programs()),
            Tuple.of(2, writes))
        .list()
        .ofMaxSize(REQUESTS)
        .withSizeDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }

  private static Arbitrary<Request> programs() {
    Arbitrary<Call> calls =
        Arbitraries.oneOf(
            reads().map(r -> new Call.Read(r.key(), r.type(), r.query())),
            KEYS.map(Call.Version::new),
            Combinators.combine(KEYS, TYPES, operations(0), asks().optional(0.5))
                .as(Call.Update::new),
            Combinators.combine(KEYS, TYPES, operations(0).filter(o -> !o.isOfKey()), EITHER)
                .as(Call.Replace::new),
            Combinators.combine(upTo(7), upTo(6), EITHER)
                .as((k, by, only) -> new Call.Rename(key(k), key((k + by + 1) % 8), only)),
            Combinators.combine(upTo(7), upTo(6), EITHER)
                .as((k, by, only) -> new Call.Copy(key(k), key((k + by + 1) % 8), only)),
            Combinators.combine(KEYS, TYPES, Arbitraries.integers().between(1, 3), NUMBERS)
                .as(Call.Take::new),
            Combinators.combine(KEYS, expiries(), Arbitraries.of(Call.When.values()))
                .as(Call.ExpireIf::new),
            Combinators.combine(KEYS, TYPES.optional(0.5), conditions()).as(Call.Test::new));
    Arbitrary<Call.Guard> guards =
        Combinators.combine(KEYS, Arbitraries.longs().between(0, 9))
            .as(
                (key, n) ->
                    new Call.Guard(key, n == 0 ? VersionVector.EMPTY : VersionVector.of(SELF, n)));
    return Combinators.combine(calls.list().ofMaxSize(4), guards.list().ofMaxSize(1))
        .as((some, by) -> new Request.Evaluate("k", some, by, VersionVector.EMPTY, 0));
  }

  private static Key key(int number) {
    return Key.of("k" + number);
  }

  private static Arbitrary<Query> queries() {
    return Arbitraries.oneOf(
        Arbitraries.of(
            new Query.Whole(),
            new Query.Size(),
            new Query.Rights(),
            new Query.Exists(),
            new Query.TimeToLive()),
        VALUES.map(Query.Contains::new),
        VALUES.list().ofMaxSize(3).map(Query.Among::new),
        ranges(),
        NAMES.list().ofMaxSize(2).map(Query.Select::new));
  }

  private static Arbitrary<Query> ranges() {
    Arbitrary<Optional<Query.Bound>> ends =
        Arbitraries.oneOf(VALUES.map(Part.Element::new), NAMES.map(Part.Field::new))
            .flatMap(part -> EITHER.map(inclusive -> new Query.Bound(part, inclusive)))
            .optional();
    return Combinators.combine(ends, ends, EITHER, Arbitraries.integers().between(1, 3))
        .as(Query.Range::new);
  }

  private static Arbitrary<Request.Ask> asks() {
    return Combinators.combine(EITHER, queries()).as(Request.Ask::new);
  }

  /** Some hold of new objects, and a few of others. */
  private static Arbitrary<Request.Condition> conditions() {
    Arbitrary<Reading> expected =
        Arbitraries.oneOf(
            TYPES.map(type -> TypeRegistry.empty(type).read(new Query.Whole())),
            Arbitraries.of(0L, 1L, 7L).map(Reading.Count::new),
            EITHER.map(Reading.Flag::new),
            VALUES.map(v -> new Reading.Single(Optional.of(v))),
            VALUES.map(v -> new Reading.Many(List.of(v))));
    Arbitrary<Request.Condition> ofObjects =
        Combinators.combine(queries(), expected)
            .as((query, e) -> new Request.Condition(List.of(), query, e));
    Arbitrary<Request.Condition> ofFields =
        Combinators.combine(
                Combinators.combine(NAMES, TYPES).as(FieldId::new).list().ofMaxSize(2), expected)
            .as((path, e) -> new Request.Condition(path, new Query.Whole(), e));
    return Arbitraries.oneOf(ofObjects, ofFields);
  }

  private static Arbitrary<Request.Read> reads() {
    return Combinators.combine(KEYS, TYPES.optional(0.5), queries())
        .as((key, type, q) -> new Request.Read("k", key, type, q, VersionVector.EMPTY, true, 0));
  }

  private static Arbitrary<Request.Update> updates() {
    return Combinators.combine(KEYS, TYPES, operations(0)).as(Request.Update::new);
  }

  private static Arbitrary<Request.Fetch> fetches() {
    return reads().map(read -> new Request.Fetch(read.key(), read.type(), read.query()));
  }

  /** Steps of a few transactions, in and out of order. */
  private static Arbitrary<Request.Transact> transactions() {
    Arbitrary<Request.Begin> begins =
        Combinators.combine(
                Arbitraries.longs().between(1, 9).optional(0.25),
                Arbitraries.frequency(Tuple.of(3, false), Tuple.of(1, true)),
                Arbitraries.of(0, 1, 10, 60_000, Integer.MAX_VALUE))
            .as(
                (seen, flag, millis) ->
                    new Request.Begin(
                        seen.map(n -> VersionVector.of(SELF, n)).orElse(VersionVector.EMPTY),
                        flag,
                        0,
                        millis));
    return Combinators.combine(
            upTo(5),
            upTo(2),
            begins,
            updates().list().ofMaxSize(3),
            fetches().list().ofMaxSize(2),
            Arbitraries.of(Request.End.values()))
        .as(
            (id, step, begin, some, fetched, end) ->
                new Request.Transact(
                    "k",
                    new TransactionId(0, id),
                    1 + step,
                    step == 0 ? Optional.of(begin) : Optional.empty(),
                    some,
                    fetched,
                    end));
  }

  private static Arbitrary<Operation> operations(int depth) {
    Arbitrary<Operation> plain =
        Arbitraries.oneOf(
            NUMBERS.map(Operation.Increment::new),
            VALUES.map(Operation.Assign::new),
            VALUES.map(Operation.Append::new),
            Combinators.combine(NUMBERS, VALUES)
                .as((at, value) -> new Operation.SetRange(at & Long.MAX_VALUE, value)),
            Combinators.combine(NUMBERS, EITHER)
                .as((at, on) -> new Operation.SetBit(at & Long.MAX_VALUE, on)),
            NUMBERS.map(n -> new Operation.IncrementDecimal(BigDecimal.valueOf(n, 18))),
            EITHER.map(Operation.SetFlag::new),
            VALUES.list().ofMaxSize(3).map(Operation.Add::new),
            VALUES.list().ofMaxSize(3).map(Operation.Remove::new),
            Arbitraries.just(new Operation.Clear()));
    Arbitrary<Operation> ofKeys = // which are refused for fields
        Arbitraries.oneOf(
            Arbitraries.of(new Operation.Delete(), new Operation.Persist()),
            expiries().map(e -> e),
            Combinators.combine(plain, expiries()).as(Operation.WithDeadline::new));
    if (depth == 3) {
      return plain;
    }
    Arbitrary<Operation> fields =
        Arbitraries.oneOf(
            NAMES.list().ofMaxSize(2).map(Operation.RemoveFields::new),
            Combinators.combine(NAMES, TYPES, operations(depth + 1))
                .as((name, type, op) -> new Operation.FieldUpdate(new FieldId(name, type), op))
                .list()
                .ofMaxSize(2)
                .map(Operation.UpdateFields::new));
    return depth == 0
        ? Arbitraries.frequencyOf(
            Tuple.of(3, plain),
            Tuple.of(1, fields),
            Tuple.of(2, boundedOperations()),
            Tuple.of(2, ofKeys))
        : Arbitraries.frequencyOf(Tuple.of(8, plain), Tuple.of(3, fields), Tuple.of(1, ofKeys));
  }

  private static Arbitrary<Operation.Expire> expiries() {
    Arbitrary<Long> millis =
        Arbitraries.oneOf(
            NUMBERS,
            Arbitraries.longs().between(0, REQUESTS * PAUSE_MILLIS),
            Arbitraries.of(Operation.Expire.MILLIS_MAX, Operation.Expire.MILLIS_MAX + 1));
    return Combinators.combine(millis, EITHER).as(Operation.Expire::new);
  }

  private static Arbitrary<Operation> boundedOperations() {
    return Arbitraries.oneOf(
        Combinators.combine(NUMBERS, NUMBERS)
            .as((lower, upper) -> new Operation.Bound(lower, upper, List.of())),
        Combinators.combine(NUMBERS, EITHER)
            .as((amount, up) -> new Operation.Transfer("us", amount, up)),
        NUMBERS.map(Operation.Increment::new),
        NUMBERS.map(n -> new Operation.IncrementWithin(n, 0)));
  }
}
