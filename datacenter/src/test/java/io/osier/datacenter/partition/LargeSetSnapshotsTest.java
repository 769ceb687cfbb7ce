package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Snapshots of a large set of a causal keyspace, whose entries lie outside the heap: its store
 * keeps what they were for two seconds, unless it is told to keep it for longer.
 */
final class LargeSetSnapshotsTest {
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private long nanos = 1;
  private long tickets;
  private final MemoryVersions versions = MemoryVersions.shortLived(() -> nanos);
  private final PartitionStore store =
      Partitions.store(
          versions, new WritesAtOnce(versions::write), SELF, new DecompositionLimits(1_000, 8));
  private final Partition partition = start();

  private Partition start() {
    RecoveredState recovered = store.recover(1, false, List.of());
    PartitionConfig config =
        Partitions.config(SELF, List.of(), KeyspacePolicy.causal("k", Duration.ofSeconds(1)));
    return new Partition(config, store, recovered, now());
  }

  private Now now() {
    return new Now(nanos, 1 + nanos / 1_000_000);
  }

  private List<Effects.Output> step(Input input) {
    Effects effects = partition.step(input, now());
    effects.keep(store, () -> {});
    return effects.whenDurable();
  }

  private Reply answer(Request request) {
    long ticket = ++tickets;
    return step(new Input.Command(ticket, request)).stream()
        .filter(o -> o instanceof Effects.ToClient a && a.ticket() == ticket)
        .map(o -> ((Effects.ToClient) o).reply())
        .findFirst()
        .orElseThrow();
  }

  /** Time passes; the partition looks at what is due, as it asks for it. */
  private void pass(long millis) {
    long until = nanos + millis * 1_000_000;
    while (partition.nextTickNanos() < until) {
      nanos = Math.max(nanos + 1, partition.nextTickNanos());
      step(new Input.Tick());
    }
    nanos = until;
  }

  private void update(Operation operation) {
    Reply reply = answer(Requests.write("k", SET.key(), SET.type(), operation));
    assertThat(reply).isInstanceOf(Reply.Done.class);
  }

  private static Operation add(String... elements) {
    return new Operation.Add(List.of(elements).stream().map(Value::of).toList());
  }

  private static Operation remove(String... elements) {
    return new Operation.Remove(List.of(elements).stream().map(Value::of).toList());
  }

  /** There are elements e100 and so on. */
  private void setHas(int elements) {
    IntStream.range(100, 100 + elements).forEach(i -> update(add("e" + i)));
    assertThat(Decomposition.isDecomposed(requireNonNull(store.get(SET)))).isTrue();
    pass(1_000);
  }

  /** The set is read from the store anew, which gives it what is there for two more seconds. */
  private void setIsReadAnew() {
    pass(1_000);
    assertThat(store.get(SET)).isNotNull();
  }

  private Request.Transact request(long id, int step, Request.End end, Operation... updates) {
    Optional<Request.Begin> begin =
        step == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 600_000))
            : Optional.empty();
    return new Request.Transact(
        "k",
        new TransactionId(0, id),
        step,
        begin,
        List.of(updates).stream().map(o -> new Request.Update(SET.key(), SET.type(), o)).toList(),
        List.of(new Request.Fetch(SET.key(), Optional.of(SET.type()), new Query.Whole())),
        end);
  }

  /** A step of a transaction; returns what it sees of the set. */
  private TreeSet<String> transact(long id, int step, Request.End end, Operation... updates) {
    Reply reply = answer(request(id, step, end, updates));
    assertThat(reply).isInstanceOf(Reply.Transacted.class);
    Reading.Many many =
        (Reading.Many) ((Reply.Transacted) reply).answers().getFirst().reading().orElseThrow();
    return elements(many);
  }

  private static TreeSet<String> elements(Reading.Many many) {
    TreeSet<String> all = new TreeSet<>();
    many.values().forEach(v -> all.add(v.toString()));
    return all;
  }

  private TreeSet<String> present() {
    CrdtState state = requireNonNull(store.get(SET));
    return elements((Reading.Many) state.read(new Query.Whole()));
  }

  /** Whatever is done to the set meanwhile: few and many changes, a clear, a removal of all. */
  private void muchHappens() {
    for (int i = 0; i < 40; i++) {
      update(remove("e1" + (10 + i)));
      update(add("n" + i));
      if (i == 20) {
        update(new Operation.Clear());
        IntStream.range(500, 600).forEach(e -> update(add("e" + e)));
      }
      pass(3_000);
    }
  }

  @Test
  void snapshot_staysAsItWas_forMinutes() {
    setHas(200);
    TreeSet<String> before = present();
    assertThat(transact(1, 1, Request.End.OPEN)).isEqualTo(before);
    muchHappens();
    assertThat(present()).isNotEqualTo(before);
    assertThat(transact(1, 2, Request.End.OPEN)).isEqualTo(before);
    assertThat(transact(1, 3, Request.End.COMMIT)).isEqualTo(before);
  }

  /** Of what it has changed it has a version of its own, which nobody else may have. */
  @Test
  void snapshot_withUpdatesOfItsOwn_staysAsItWas() {
    setHas(200);
    TreeSet<String> before = present();
    setIsReadAnew();
    before.add("own");
    assertThat(transact(1, 1, Request.End.OPEN, add("own"))).isEqualTo(before);
    pass(100_000);
    setIsReadAnew();
    muchHappens();
    assertThat(transact(1, 2, Request.End.OPEN)).isEqualTo(before);
    TreeSet<String> after = present();
    transact(1, 3, Request.End.COMMIT);
    after.add("own");
    assertThat(present()).isEqualTo(after);
  }

  @Test
  void pastThatIsKept_canBeRead() {
    setHas(200);
    TreeSet<String> before = present();
    long number = requireNonNull(store.get(SET)).context().last(SELF);
    pass(1_000);
    IntStream.range(100, 150).forEach(i -> update(remove("e" + i)));
    pass(8_000);
    Request.Begin begin = new Request.Begin(VersionVector.of(SELF, number), true, 0, 60_000);
    Request.Transact now = request(1, 1, Request.End.COMMIT);
    Reply reply =
        answer(
            new Request.Transact(
                "k",
                now.transaction(),
                1,
                Optional.of(begin),
                List.of(),
                now.reads(),
                Request.End.COMMIT));
    Reply.Transacted read = (Reply.Transacted) reply;
    assertThat(elements((Reading.Many) read.answers().getFirst().reading().orElseThrow()))
        .isEqualTo(before);
  }

  /** The process stood still for so long that nobody has told the store to keep what was. */
  @Test
  void snapshotThatWasNotKept_isNotShown() {
    setHas(200);
    transact(1, 1, Request.End.OPEN);
    transact(2, 1, Request.End.OPEN, add("own"));
    update(remove("e110"));
    nanos += 120_000_000_000L;
    for (long id : new long[] {1, 2}) {
      Reply reply = answer(request(id, 2, Request.End.OPEN));
      assertThat(reply).isInstanceOf(Reply.Failure.class);
      assertThat(((Reply.Failure) reply).code()).isEqualTo(ErrorCode.SNAPSHOT_TOO_OLD);
    }
    Reply commit = answer(request(2, 2, Request.End.COMMIT));
    assertThat(commit).as("what is done hangs on it, too").isInstanceOf(Reply.Failure.class);
    assertThat(present()).hasSize(199).doesNotContain("own");
    assertThat(transact(3, 1, Request.End.COMMIT)).isEqualTo(present());
  }

  /** A clear removes what its transaction saw. */
  @Test
  void clearing_leavesWhatCameSinceItsTransactionBegan() {
    setHas(200);
    assertThat(transact(1, 1, Request.End.OPEN, new Operation.Clear())).isEmpty();
    update(add("new", "e150"));
    pass(3_000);
    assertThat(transact(1, 2, Request.End.OPEN, add("own"))).containsExactly("own");
    transact(1, 3, Request.End.COMMIT);
    assertThat(present()).containsExactly("e150", "new", "own");
  }

  /** Nothing is held for whoever has gone. */
  @Test
  void whatNobodyReads_isNotKept() {
    setHas(200);
    CrdtState then = requireNonNull(store.get(SET));
    transact(1, 1, Request.End.OPEN, add("own"));
    muchHappens();
    assertThat(Decomposition.hold(then)).as("it is needed").isTrue();
    answer(request(1, 2, Request.End.ABORT));
    pass(200_000);
    assertThat(Decomposition.hold(then)).isFalse();
  }
}
