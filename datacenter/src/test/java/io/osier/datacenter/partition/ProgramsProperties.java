package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;

/** A program does what its calls do one by one, and others learn all of it. */
final class ProgramsProperties {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final List<String> KEYS = List.of("a", "b", "c");

  private static final class Alone {
    final MemoryStore store = new MemoryStore();
    private final Partition partition;
    private final Map<ObjectId, CrdtState> shipped = new HashMap<>();
    private long tickets;

    Alone(boolean causal) {
      Duration sla = Duration.ofSeconds(1);
      KeyspacePolicy policy =
          causal ? KeyspacePolicy.causal("k", sla) : KeyspacePolicy.session("k", sla);
      partition = Partitions.started(SELF, List.of(), policy, store, new Now(1, 1));
    }

    Reply ask(Request request, long millis) {
      Effects effects =
          partition.step(
              new Input.Command(++tickets, request), new Now(millis * 1_000_000, millis));
      for (Effects.Recorded record : effects.records()) {
        if (record instanceof Effects.Applied a) {
          shipped.merge(
              a.update().object(),
              CrdtState.bottom(a.update().object().type()).join(a.update().content()),
              (known, more) -> known.join(a.update().content()));
        }
      }
      return effects.whenDurable().stream()
          .filter(Effects.ToClient.class::isInstance)
          .map(o -> ((Effects.ToClient) o).reply())
          .reduce((first, second) -> second)
          .orElseThrow();
    }

    /** What a reader sees, with the deadlines, by the objects' names. */
    Map<String, String> shown(long millis) {
      Map<String, String> shown = new TreeMap<>();
      for (StoredObjects.Entry entry : store.scan(Optional.empty(), 100)) {
        CrdtState state = entry.state().at(millis);
        if (!state.isBottom()) {
          shown.put(
              entry.object().toString(), state.read(new Query.Whole()) + " " + state.deadline());
        }
      }
      return shown;
    }
  }

  /** As it was done alone, in the words of requests that there were before programs. */
  private static Reply single(Alone alone, Call call, long millis) {
    Request request =
        switch (call) {
          case Call.Read c ->
              new Request.Read("k", c.key(), c.type(), c.query(), VersionVector.EMPTY, true, 0);
          case Call.Update c ->
              new Request.Write(
                  "k", c.key(), c.type(), c.operation(), VersionVector.EMPTY, 0, c.ask());
          default -> program(List.of(call));
        };
    Reply reply = alone.ask(request, millis);
    return reply instanceof Reply.Evaluated e ? e.parts().getFirst() : reply;
  }

  private static Request.Evaluate program(List<Call> calls) {
    return new Request.Evaluate("k", calls, List.of(), VersionVector.EMPTY, 0);
  }

  /** An answer without numbers, which differ. */
  private static String said(Reply part) {
    return switch (part) {
      case Reply.Done d -> "done " + d.answer().map(ProgramsProperties::said);
      case Reply.Answer a -> a.type() + " " + a.reading() + " " + a.exists();
      case Reply.Failure f -> f.code() + ": " + f.message();
      default -> throw new AssertionError("no part: " + part);
    };
  }

  @Property(tries = 300)
  void program_doesWhatItsCallsDoOneByOne(
      @ForAll("programs") List<List<Call>> programs, @ForAll boolean causal) {
    Alone together = new Alone(causal);
    Alone oneByOne = new Alone(causal);
    long millis = 1_000;
    for (List<Call> calls : programs) {
      millis += 400;
      Reply.Evaluated evaluated = (Reply.Evaluated) together.ask(program(calls), millis);
      assertThat(evaluated.held()).isTrue();
      for (int i = 0; i < calls.size(); i++) {
        assertThat(said(evaluated.parts().get(i)))
            .as("call %s of %s", i, calls)
            .isEqualTo(said(single(oneByOne, calls.get(i), millis)));
      }
      assertThat(together.shown(millis)).as("after %s", calls).isEqualTo(oneByOne.shown(millis));
      for (StoredObjects.Entry entry : together.store.scan(Optional.empty(), 100)) {
        assertThat(together.shipped.get(entry.object()))
            .as("%s of others, after %s", entry.object(), calls)
            .isEqualTo(entry.state());
      }
    }
  }

  /** Copies make what they are copies of, whatever that is. */
  @Property(tries = 100)
  void copiedKey_readsAsTheOneItIsOf(@ForAll("programs") List<List<Call>> programs) {
    Alone alone = new Alone(false);
    long millis = 1_000;
    for (List<Call> calls : programs) {
      millis += 400;
      alone.ask(program(calls), millis);
    }
    Key from = Key.of("a");
    Key to = Key.of("to");
    Call ofFrom = new Call.Read(from, Optional.empty(), new Query.Whole());
    Call left = new Call.Read(from, Optional.empty(), new Query.TimeToLive());
    List<Call> calls =
        List.of(
            ofFrom,
            left,
            new Call.Rename(from, to, false),
            new Call.Read(to, Optional.empty(), new Query.Whole()),
            new Call.Read(to, Optional.empty(), new Query.TimeToLive()),
            ofFrom);
    List<Reply> parts = ((Reply.Evaluated) alone.ask(program(calls), millis)).parts();
    if (parts.get(2) instanceof Reply.Done) {
      assertThat(said(parts.get(3))).isEqualTo(said(parts.get(0)));
      assertThat(said(parts.get(4))).isEqualTo(said(parts.get(1)));
      assertThat(requireNonNull((Reply.Answer) parts.get(5)).exists()).isFalse();
    } else {
      assertThat(((Reply.Answer) parts.get(0)).exists()).isFalse();
    }
  }

  /** A program somewhere, after a while. */
  private record Sent(String dc, long afterMillis, boolean cuts, List<Call> calls) {}

  /** Whatever datacenters do at the same time, and however it travels, all come to the same. */
  @Property(tries = 60)
  void concurrentPrograms_comeToTheSameEverywhere(
      @ForAll("sent") List<Sent> programs,
      @ForAll boolean causal,
      @ForAll KeyspacePolicy.Propagation propagation,
      @ForAll KeyspacePolicy.StatePayload payload) {
    Duration sla = Duration.ofMillis(400);
    KeyspacePolicy policy =
        causal ? KeyspacePolicy.causal("k", sla) : KeyspacePolicy.session("k", sla);
    Cluster cluster = new Cluster(policy.with(propagation).with(payload), "ap", "eu", "us");
    boolean isCut = false;
    for (Sent sent : programs) {
      cluster.run(sent.afterMillis);
      Reply reply = cluster.dc(sent.dc).answer(program(sent.calls));
      assertThat(reply).isInstanceOf(Reply.Evaluated.class);
      if (sent.cuts && !isCut) {
        cluster.cut("eu", "us");
      } else if (sent.cuts) {
        cluster.heal("eu", "us");
      }
      isCut ^= sent.cuts;
    }
    if (isCut) {
      cluster.heal("eu", "us");
    }
    cluster.run(5_000);
    Map<String, List<StoredObjects.Entry>> contents = cluster.contents();
    assertThat(contents.get("us")).isEqualTo(contents.get("eu"));
    assertThat(contents.get("ap")).isEqualTo(contents.get("eu"));
  }

  // ---------------------------------------------------------------- what may come

  @Provide
  Arbitrary<List<List<Call>>> programs() {
    return calls()
        .list()
        .ofMinSize(1)
        .ofMaxSize(12)
        .withSizeDistribution(RandomDistribution.uniform())
        .list()
        .ofMaxSize(6)
        .withSizeDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }

  @Provide
  Arbitrary<List<Sent>> sent() {
    return Combinators.combine(
            Arbitraries.of("ap", "eu", "us"),
            Arbitraries.of(0L, 5L, 41L, 100L, 600L),
            Arbitraries.of(true, false, false, false, false),
            calls().list().ofMinSize(1).ofMaxSize(6))
        .as(Sent::new)
        .list()
        .ofMaxSize(12)
        .withSizeDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }

  private static Arbitrary<Call> calls() {
    Arbitrary<Key> keys = Arbitraries.of(KEYS).map(Key::of);
    Arbitrary<Boolean> either = Arbitraries.of(true, false);
    Arbitrary<CrdtType> types =
        Arbitraries.of(
            CrdtType.STRING,
            CrdtType.AW_SET,
            CrdtType.LWW_SET_ADD_BIAS,
            CrdtType.PN_COUNTER,
            CrdtType.MAX_REGISTER,
            CrdtType.MV_REGISTER,
            CrdtType.RW_SET,
            CrdtType.EW_FLAG,
            CrdtType.OR_MAP);
    Arbitrary<Operation> deadlines =
        Arbitraries.longs().between(0, 1_500).map(ms -> new Operation.Expire(ms, true));
    Arbitrary<Operation> ofKeys =
        Arbitraries.oneOf(
            deadlines, Arbitraries.of(new Operation.Delete(), new Operation.Persist()));
    Arbitrary<Request.Ask> asks = // some types have no size: such a call must leave nothing
        Combinators.combine(either, Arbitraries.of(new Query.Whole(), new Query.Size()))
            .as(Request.Ask::new);
    Arbitrary<Call> updates =
        types.flatMap(
            type ->
                Combinators.combine(keys, operations(type), asks.optional(0.5))
                    .as((key, o, ask) -> new Call.Update(key, type, o, ask)));
    Arbitrary<Call> replaces =
        types.flatMap(
            type ->
                Combinators.combine(keys, operations(type), either)
                    .as((key, o, keeps) -> new Call.Replace(key, type, o, keeps)));
    Arbitrary<List<Key>> two =
        Arbitraries.shuffle(KEYS).map(k -> k.subList(0, 2).stream().map(Key::of).toList());
    return Arbitraries.oneOf(
        updates,
        updates,
        keys.map(k -> new Call.Read(k, Optional.empty(), new Query.Whole())),
        Combinators.combine(keys, ofKeys, asks.optional(0.5))
            .as((k, o, ask) -> new Call.Update(k, Operation.ANY_TYPE, o, ask)),
        replaces,
        Combinators.combine(two, either).as((k, only) -> new Call.Rename(k.get(0), k.get(1), only)),
        Combinators.combine(two, either).as((k, only) -> new Call.Copy(k.get(0), k.get(1), only)),
        Combinators.combine(keys, Arbitraries.integers().between(1, 2), Arbitraries.longs())
            .as((k, n, seed) -> new Call.Take(k, CrdtType.AW_SET, n, seed)),
        Combinators.combine(keys, deadlines, Arbitraries.of(Call.When.values()))
            .as((k, o, when) -> new Call.ExpireIf(k, (Operation.Expire) o, when)));
  }

  private static Arbitrary<Operation> operations(CrdtType type) {
    Arbitrary<Value> values = Arbitraries.longs().between(0, 3).map(Value::of);
    Arbitrary<Operation> sums = Arbitraries.longs().between(-3, 3).map(Operation.Increment::new);
    Arbitrary<Operation> assigns = values.map(Operation.Assign::new);
    return switch (type) {
      case STRING -> Arbitraries.oneOf(sums, assigns, assigns.map(o -> withDeadline(o)));
      case PN_COUNTER -> Arbitraries.oneOf(sums, Arbitraries.of(new Operation.Clear()));
      case MAX_REGISTER, MV_REGISTER -> assigns;
      case EW_FLAG -> Arbitraries.of(true, false).map(Operation.SetFlag::new);
      case OR_MAP -> {
        Arbitrary<String> names = Arbitraries.of("f", "g");
        yield Arbitraries.oneOf(
            Combinators.combine(names, sums).as((f, o) -> field(f, CrdtType.STRING, o)),
            Combinators.combine(names, assigns).as((f, o) -> field(f, CrdtType.MV_REGISTER, o)),
            Combinators.combine(names, assigns)
                .as((f, o) -> withPartDeadlines(field(f, CrdtType.STRING, o))),
            names.map(f -> new Operation.RemoveFields(List.of(f))));
      }
      default -> {
        Arbitrary<List<Value>> some = values.list().ofMinSize(1).ofMaxSize(3);
        yield Arbitraries.oneOf(
            some.map(Operation.Add::new),
            some.map(Operation.Remove::new),
            some.map(e -> withPartDeadlines(new Operation.Add(e))));
      }
    };
  }

  private static Operation field(String name, CrdtType type, Operation update) {
    return new Operation.UpdateFields(new FieldId(name, type), update);
  }

  private static Operation withPartDeadlines(Operation update) {
    return new Operation.WithPartDeadlines(update, new Operation.Expire(700, true));
  }

  private static Operation withDeadline(Operation update) {
    return new Operation.WithDeadline(update, new Operation.Expire(900, true));
  }
}
