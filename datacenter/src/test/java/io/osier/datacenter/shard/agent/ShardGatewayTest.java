package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is read directly, by whom. */
final class ShardGatewayTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private final MemoryStore store = new MemoryStore(KeyedHash.of(() -> 7), 1 << 20);
  private final Queue<Runnable> readers = new ArrayDeque<>();
  private final Queue<PendingAnswer> longAnswers = new ArrayDeque<>();
  private long millis = 1;
  private final List<Reply> replies = new ArrayList<>();
  private final OrderedQueue lane = new OrderedQueue();

  /** Nothing comes to the partition here. */
  private final ShardGateway.Inside inside =
      new ShardGateway.Inside() {
        @Override
        public boolean isReady() {
          return true;
        }

        @Override
        public boolean isAllInMemory() {
          return true;
        }

        @Override
        public long millis() {
          return millis;
        }

        @Override
        public void absorb(Key key) {}

        @Override
        public void absorbAll() {}

        @Override
        public Runnable offer(Request request, Consumer<Reply> reply) {
          throw new AssertionError(request);
        }

        @Override
        public Runnable offer(Input input) {
          throw new AssertionError(input);
        }
      };

  private final ShardGateway entrance =
      new ShardGateway(true, store, readers::add, longAnswers::add, inside);

  private void put(String key, int elements) {
    List<Value> all = IntStream.range(0, elements).mapToObj(i -> Value.of("element " + i)).toList();
    CrdtState none = CrdtState.bottom(CrdtType.AW_SET);
    CrdtState delta = none.prepare(new Operation.Add(all), SELF, 1, 0, 1, 0);
    store.put(new ObjectId(Key.of(key), CrdtType.AW_SET), none.join(delta));
  }

  private static Request.Read read(String key, CrdtType type) {
    return Requests.read("k", Key.of(key), type, new Query.Whole());
  }

  private static Request.ReadAll readAll(String... keys) {
    return new Request.ReadAll(
        "k",
        List.of(keys).stream()
            .map(k -> new Request.Fetch(Key.of(k), Optional.empty(), new Query.Whole()))
            .toList(),
        VersionVector.EMPTY,
        false,
        0);
  }

  @Test
  void smallObjects_areReadByTheConnectionsThread() {
    put("small", 10);
    entrance.read(read("small", CrdtType.AW_SET), lane, replies::add);
    entrance.readAll(readAll("small", "none"), lane, replies::add);
    assertThat(replies).hasSize(2);
    assertThat(longAnswers).isEmpty();
  }

  @Test
  void allOfALargeObject_isReadByOneWhoMayTakeLong_asItWas() {
    put("small", 10);
    put("large", 10_000);
    entrance.read(read("large", CrdtType.AW_SET), lane, replies::add);
    entrance.readAll(readAll("small", "large"), lane, replies::add);
    entrance.read(read("small", CrdtType.AW_SET), lane, replies::add);
    assertThat(replies).as("the small one's").hasSize(1);
    assertThat(longAnswers).hasSize(2);
    assertThat(readers).as("others' cold objects wait for them").isEmpty();
    put("large", 10_001);
    longAnswers.forEach(Runnable::run);
    Reply.Answer large = (Reply.Answer) replies.get(1);
    assertThat(((Reading.Many) large.reading().orElseThrow()).values()).hasSize(10_000);
    assertThat(((Reply.All) replies.get(2)).parts()).hasSize(2).endsWith(large);
  }

  @Test
  void longRead_thatFails_isAnswered() {
    put("large", 10_000);
    entrance.read(read("large", CrdtType.PN_COUNTER), lane, replies::add);
    longAnswers.forEach(Runnable::run);
    assertThat(replies).singleElement().is(Failed.with(ErrorCode.WRONG_TYPE));
  }

  @Test
  void longRead_thatIsRefused_isAnsweredSo() {
    put("large", 10_000);
    entrance.read(read("large", CrdtType.AW_SET), lane, replies::add);
    Reply refusal = new Reply.Failure(ErrorCode.SHUTTING_DOWN, "it stops");
    longAnswers.remove().refuse(refusal);
    assertThat(replies).containsExactly(refusal);
  }

  @Test
  void longRead_showsWhatHadNotExpired_whenItsVersionWasTaken() {
    put("large", 10_000);
    ObjectId large = new ObjectId(Key.of("large"), CrdtType.AW_SET);
    CrdtState set = requireNonNull(store.get(large));
    long next = set.context().last(SELF) + 1;
    CrdtState delta = set.prepare(new Operation.Expire(100, false), SELF, next, next - 1, 2, 0);
    store.put(large, set.join(delta));
    entrance.read(read("large", CrdtType.AW_SET), lane, replies::add);
    entrance.readAll(readAll("large"), lane, replies::add);
    millis = 1_000;
    longAnswers.forEach(Runnable::run);
    Reply.Answer answer = (Reply.Answer) replies.getFirst();
    assertThat(((Reading.Many) answer.reading().orElseThrow()).values()).hasSize(10_000);
    assertThat(((Reply.All) replies.getLast()).parts()).containsExactly(answer);
    longAnswers.clear();
    entrance.read(read("large", CrdtType.AW_SET), lane, replies::add);
    longAnswers.forEach(Runnable::run);
    answer = (Reply.Answer) replies.getLast();
    assertThat(((Reading.Many) answer.reading().orElseThrow()).values()).isEmpty();
  }
}
