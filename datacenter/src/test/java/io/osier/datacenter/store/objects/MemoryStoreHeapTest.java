package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.testing.HeapSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a key in memory takes of the heap. */
final class MemoryStoreHeapTest {
  private static final int KEYS = 20_000;
  private static final int KEY_BYTES = 10;
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  private static Operation operation(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(1);
      case LWW_REGISTER -> new Operation.Assign(Value.of("v".repeat(20)));
      default -> {
        List<Value> elements = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          elements.add(Value.of("element-" + i + "-"));
        }
        yield new Operation.Add(elements);
      }
    };
  }

  private static CrdtState state(CrdtType type, int i) {
    CrdtState bottom = CrdtState.bottom(type);
    return bottom.join(bottom.prepare(operation(type), EU, 100_000 + 10 * i, 0, i, 0));
  }

  private static Key key(int i) {
    return Key.of(String.format(Locale.ROOT, "key%07d", i));
  }

  /** The targets of issue 17: beside key and value. */
  @ParameterizedTest
  @CsvSource({"PN_COUNTER, 8, 64", "LWW_REGISTER, 20, 64", "AW_SET, 100, 480"})
  void objectsAtRest_takeFewBytesBesideKeyAndValue(CrdtType type, int valueBytes, int bytesMax) {
    double each =
        heapOf(
            keys -> {
              MemoryStore store = new MemoryStore(KeyedHash.of(() -> 7), 100_000);
              for (int i = 0; i < keys; i++) {
                store.put(new ObjectId(key(i), type), state(type, i));
              }
              return store;
            });
    assertThat(each - KEY_BYTES - valueBytes).isBetween(0.0, (double) bytesMax);
  }

  /** Of a cache: whether what it believes to take is what it takes. */
  @ParameterizedTest
  @EnumSource(
      value = CrdtType.class,
      names = {"PN_COUNTER", "LWW_REGISTER", "AW_SET"})
  void estimateOfWhatIsPacked_agreesWithTheHeap_withinAQuarter(CrdtType type) {
    long[] estimated = new long[1];
    double each =
        heapOf(
            keys -> {
              ObjectTable table =
                  new ObjectTable(KeyedHash.of(() -> 7), 0, Long.MAX_VALUE, (key, objects) -> {});
              for (int i = 0; i < keys; i++) {
                table.put(key(i), KeyObjects.NOTHING.with(state(type, i), 0));
              }
              estimated[0] = table.heapBytes();
              return table;
            });
    assertThat((double) estimated[0] / KEYS).isCloseTo(each, within(each / 4));
  }

  private static double heapOf(IntFunction<Object> make) {
    return (double) new HeapSize().add(make.apply(KEYS)) / KEYS;
  }
}
