package io.osier.datacenter.partition;

import static io.osier.datacenter.partition.HostileRequestProperties.PAUSE_MILLIS;
import static io.osier.datacenter.partition.HostileRequestProperties.REQUESTS;
import static io.osier.datacenter.partition.HostileRequestProperties.SELF;
import static io.osier.datacenter.partition.HostileRequestProperties.key;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;

/** Requests of all kinds, sensible ones and others, one after the other. */
final class HostileRequests implements ArbitrarySupplier<List<Request>> {
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

  @Override
  public Arbitrary<List<Request>> get() {
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
