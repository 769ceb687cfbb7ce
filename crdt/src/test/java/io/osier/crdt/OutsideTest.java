package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Entries that are read from outside: what is kept of them, and what cannot be read. */
final class OutsideTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);

  private final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
  private int asked;

  private final class Source implements EntrySource {
    @Override
    public byte @Nullable [] get(byte[] key) {
      asked++;
      return entries.get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      List<Entry> page = new ArrayList<>();
      entries.forEach((key, cell) -> page.add(new Entry(key, cell)));
      return page;
    }

    @Override
    public List<ReplicaId> replicas() {
      return List.of(SELF);
    }

    @Override
    public OsierException failure(MalformedException e) {
      return new OsierException(ErrorCode.STORE_DAMAGED, "the store here", e);
    }
  }

  /** A map of registers that lies outside. */
  private Causal map() {
    Causal map = Causal.bottom(CrdtType.OR_MAP);
    Operation.UpdateFields assigned =
        new Operation.UpdateFields(
            List.of(
                assign("small", "a"),
                assign("large", "a".repeat(5_000)),
                assign("larger", "a".repeat(70_000))));
    Causal whole = map.join(map.prepare(assigned, SELF, 1, 0, 1, 0));
    Decomposition.all(whole, List.of(SELF), entries::put);
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              out.presetReplica(SELF);
              Decomposition.writeHead(Decomposition.of(whole), out);
            });
    return Decomposition.readHead(whole.form(), List.of(SELF), new WireInput(head), new Source());
  }

  private static Operation.FieldUpdate assign(String field, String value) {
    return new Operation.FieldUpdate(
        new FieldId(field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  private int asksOf(Causal map, String field) {
    asked = 0;
    for (int i = 0; i < 3; i++) {
      assertThat(((OrMap) map.store()).has(new FieldId(field, CrdtType.LWW_REGISTER))).isTrue();
    }
    return asked;
  }

  /** What is kept is not counted, so it must be little. */
  @Test
  void cellsThatAreKept_areSmall() {
    Causal map = map();
    assertThat(asksOf(map, "small")).isEqualTo(1);
    assertThat(asksOf(map, "large")).isEqualTo(1);
    assertThat(asksOf(map, "larger")).isEqualTo(3);
  }

  @Test
  void malformedCell_isTheSourcesFailure() {
    Causal map = map();
    entries.replaceAll((key, cell) -> new byte[] {(byte) 0xFF, 1});
    assertThatThrownBy(() -> map.read(new Query.Select(List.of("small"))))
        .isInstanceOf(OsierException.class)
        .hasMessage("the store here");
    assertThatThrownBy(() -> map.read(new Query.Whole())).hasMessage("the store here");
  }

  @Test
  void malformedKey_isTheSourcesFailure() {
    Causal map = map();
    entries.put(new byte[] {5}, new byte[] {1});
    assertThatThrownBy(() -> map.read(new Query.Whole())).hasMessage("the store here");
  }
}
