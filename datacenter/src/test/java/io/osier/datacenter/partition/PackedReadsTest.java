package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is read of a key that is packed is what is read of its states. */
final class PackedReadsTest {
  private static final long NOW = 1_000;
  private static final Value ELEMENT = Value.of("element");

  private static final List<Query> QUERIES =
      List.of(
          new Query.Whole(),
          new Query.Exists(),
          new Query.Size(),
          new Query.Contains(ELEMENT),
          new Query.Contains(Value.of("none")),
          new Query.Select(List.of("field")),
          new Query.Select(List.of("none")),
          new Query.TimeToLive());

  private static final List<Optional<CrdtType>> TYPES =
      List.of(Optional.empty(), Optional.of(CrdtType.PN_COUNTER), Optional.of(CrdtType.AW_SET));

  private final MemoryStore store = new MemoryStore(KeyedHash.of(() -> 7), 0);
  private final List<Key> keys = new ArrayList<>();
  private final Map<Key, StoredKey> packed = new HashMap<>();
  private long number;

  @BeforeEach
  void write() {
    update("counter", CrdtType.PN_COUNTER, new Operation.Increment(5));
    update("register", CrdtType.LWW_REGISTER, new Operation.Assign(ELEMENT));
    update("set", CrdtType.AW_SET, new Operation.Add(List.of(ELEMENT)));
    update("map", CrdtType.OR_MAP, fieldUpdate());
    update("removed", CrdtType.PN_COUNTER, new Operation.Increment(5));
    update("removed", CrdtType.PN_COUNTER, new Operation.Clear());
    update("over", CrdtType.PN_COUNTER, new Operation.Increment(5));
    update("over", CrdtType.PN_COUNTER, new Operation.Expire(NOW, false));
    update("mortal", CrdtType.AW_SET, new Operation.Add(List.of(ELEMENT)));
    update("mortal", CrdtType.AW_SET, new Operation.Expire(NOW + 1, false));
    update("both", CrdtType.AW_SET, new Operation.Add(List.of(ELEMENT)));
    update("both", CrdtType.PN_COUNTER, new Operation.Increment(5));
    for (Key key : keys) {
      packed.put(key, store.stored(key)); // what is unpacked once is kept so for a while
      assertThat(store.stored(key).isPacked()).isTrue();
    }
    packed.put(Key.of("none"), store.stored(Key.of("none")));
  }

  private static Operation fieldUpdate() {
    FieldId field = new FieldId("field", CrdtType.PN_COUNTER);
    return new Operation.UpdateFields(field, new Operation.Increment(5));
  }

  private void update(String name, CrdtType type, Operation operation) {
    ObjectId object = new ObjectId(Key.of(name), type);
    CrdtState before = store.get(object);
    CrdtState state = before == null ? CrdtState.bottom(type) : before;
    ReplicaId origin = new ReplicaId("eu", 1);
    number++;
    store.put(
        object,
        state.join(
            state.prepare(operation, origin, number, state.context().last(origin), number, 0)));
    keys.add(object.key());
  }

  private static Object outcome(Supplier<Reply> read) {
    try {
      return read.get();
    } catch (OsierException e) {
      return e.getMessage();
    }
  }

  @Test
  void packedKeys_areReadAsTheirStates() {
    for (Map.Entry<Key, StoredKey> e : packed.entrySet()) {
      Key key = e.getKey();
      StoredKey stored = e.getValue();
      for (Query query : QUERIES) {
        for (Optional<CrdtType> type : TYPES) {
          List<CrdtState> states = store.get(key);
          Request.Read read = Requests.read("ks", key, type, query);
          Object wanted = outcome(() -> Reads.of(states, read, () -> NOW));
          assertThat(outcome(() -> Reads.of(stored, read, () -> NOW)))
              .as("%s of %s as %s", query, key, type)
              .isEqualTo(wanted);
        }
      }
    }
  }

  /** Those who are asked for at once see one version, packed or not. */
  @Test
  void batchOfPackedKeys_isReadAsTheirStates() {
    List<Request.Fetch> reads = new ArrayList<>();
    for (Key key : keys) {
      QUERIES.forEach(q -> reads.add(new Request.Fetch(key, Optional.empty(), q)));
    }
    Reply.All wanted = Reads.all(reads, key -> () -> store.get(key), () -> NOW);
    assertThat(Reads.all(reads, packed::get, () -> NOW)).isEqualTo(wanted);
  }

  /** So no state is made for it, and nobody asks what time it is. */
  @Test
  void packedCounter_isReadFromItsBytes() {
    StoredKey stored = requireNonNull(packed.get(Key.of("counter")));
    StoredKey bytesOnly =
        new StoredKey() {
          @Override
          public List<CrdtState> states() {
            throw new AssertionError("it was unpacked");
          }

          @Override
          public boolean isPacked() {
            return true;
          }

          @Override
          public @Nullable PackedReader answer(Query query) {
            return stored.answer(query);
          }
        };
    Request.Read read =
        Requests.read("ks", Key.of("counter"), CrdtType.PN_COUNTER, new Query.Whole());
    assertThat(Reads.isLong(bytesOnly, read.query())).isFalse();
    assertThat(Reads.of(bytesOnly, read, () -> NOW).exists()).isTrue();
  }

  /** Ten thousand reads of one key in a batch cost one decoding, and not as many. */
  @Test
  void whatIsReadOften_isUnpackedOnce() {
    StoredKey set = requireNonNull(packed.get(Key.of("set")));
    assertThat(set.answer(new Query.Contains(ELEMENT))).isNotNull();
    assertThat(set.answer(new Query.Contains(ELEMENT))).isNull();
    update("large", CrdtType.AW_SET, new Operation.Add(List.of(Value.of("x".repeat(1_000)))));
    StoredKey large = store.stored(Key.of("large"));
    assertThat(large.isPacked()).isTrue();
    assertThat(large.states()).isSameAs(large.states());
  }
}
