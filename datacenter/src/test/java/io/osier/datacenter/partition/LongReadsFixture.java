package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A partition with large objects. */
abstract class LongReadsFixture {
  static final ReplicaId SELF = new ReplicaId("eu", 1);

  static final int LARGE = 10_000;

  final Partition partition = started(SELF);

  static Partition started(ReplicaId self) {
    return Partitions.started(
        self,
        List.of(),
        KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
        new MemoryStore(),
        new Now(1, 1));
  }

  long nanos = 1;

  long tickets;

  Effects.ToClient ask(Request request) {
    return ask(partition, request);
  }

  Effects.ToClient ask(Partition of, Request request) {
    nanos += 1_000;
    return of.step(new Input.Command(++tickets, request), new Now(nanos, 1)).whenDurable().stream()
        .filter(Effects.ToClient.class::isInstance)
        .map(Effects.ToClient.class::cast)
        .findFirst()
        .orElseThrow();
  }

  void add(String key, int from, int to) {
    List<Value> elements =
        IntStream.range(from, to).mapToObj(i -> Value.of("element " + i)).toList();
    Request write = Requests.write("k", Key.of(key), CrdtType.AW_SET, new Operation.Add(elements));
    assertThat(ask(write).reply()).isInstanceOf(Reply.Done.class);
  }

  static Request.Read read(String key, CrdtType type, Query query) {
    return Requests.read("k", Key.of(key), type, query);
  }

  static Request.Fetch fetch(String key, Query query) {
    return new Request.Fetch(Key.of(key), Optional.of(CrdtType.AW_SET), query);
  }

  static int elements(Reply reply) {
    return ((Reading.Many) ((Reply.Answer) reply).reading().orElseThrow()).values().size();
  }

  static int fields(Reply reply) {
    return ((Reading.Fields) ((Reply.Answer) reply).reading().orElseThrow()).fields().size();
  }

  static List<CrdtState> outside(List<Operation.FieldUpdate> fields, EntrySource source) {
    CrdtState empty = CrdtState.bottom(CrdtType.OR_MAP);
    CrdtState map =
        Decomposition.of(
            empty.join(empty.prepare(new Operation.UpdateFields(fields), SELF, 1, 0, 1, 0)));
    return List.of(Decomposition.rebased(map, map, source));
  }

  Reply asked(String key, Query query, Class<?> how) {
    Effects.ToClient answer = ask(read(key, CrdtType.OR_MAP, query));
    assertThat(answer).isInstanceOf(how);
    return answer.reply();
  }

  /** Of a version that may be lost while it is read. */
  static final class Lost implements EntrySource {
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

  /** A set of which an element may lie outside: whether it does is asked. */
  static CrdtState set() {
    CrdtState set = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of("outside")));
    return Decomposition.of(set.join(set.prepare(add, SELF, 1, 0, 0, 0)));
  }

  static final TransactionId TX = new TransactionId(1, 2);

  static Request.Transact step(
      int number, List<Request.Update> updates, List<Request.Fetch> reads) {
    Optional<Request.Begin> begin =
        number == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 10_000))
            : Optional.empty();
    return new Request.Transact("k", TX, number, begin, updates, reads, Request.End.OPEN);
  }

  static ErrorCode codeOf(Reply reply) {
    return ((Reply.Failure) reply).code();
  }

  static Query page(int limit) {
    return new Query.Range(Optional.empty(), Optional.empty(), false, limit);
  }

  void write(String key, CrdtType type, Operation operation) {
    Request write = Requests.write("k", Key.of(key), type, operation);
    assertThat(ask(write).reply()).isInstanceOf(Reply.Done.class);
  }
}
