package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a join with a decomposed object reads of what lies outside, and brings into memory. */
final class DecomposedJoinTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final int SIZE = 2_000;

  private final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);

  /** How many entries were given. */
  private int given;

  private final class Source implements EntrySource {
    @Override
    public byte @Nullable [] get(byte[] key) {
      given++;
      return entries.get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      NavigableMap<byte[], byte[]> rest = from == null ? entries : entries.tailMap(from, inclusive);
      List<Entry> page =
          rest.entrySet().stream()
              .limit(max)
              .map(e -> new Entry(e.getKey(), e.getValue()))
              .toList();
      given += page.size();
      return page;
    }

    @Override
    public List<ReplicaId> replicas() {
      return List.of(SELF);
    }
  }

  private Causal decomposed(Causal whole) {
    Decomposition.all(whole, List.of(SELF), entries::put);
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              out.presetReplica(SELF);
              Decomposition.writeHead(Decomposition.of(whole), out);
            });
    return Decomposition.readHead(whole.form(), List.of(SELF), new WireInput(head), new Source());
  }

  private static Causal updated(Causal object, ReplicaId by, long number, Operation operation) {
    return object.join(object.prepare(operation, by, number, object.context().last(by), number, 0));
  }

  private static Causal set() {
    List<Value> elements = IntStream.range(0, SIZE).mapToObj(Value::of).toList();
    return updated(Causal.bottom(CrdtType.AW_SET), SELF, 1, new Operation.Add(elements));
  }

  private static Causal map() {
    List<Operation.FieldUpdate> fields =
        IntStream.range(0, SIZE).mapToObj(i -> assign(i, "a")).toList();
    return updated(Causal.bottom(CrdtType.OR_MAP), SELF, 1, new Operation.UpdateFields(fields));
  }

  private static Operation.FieldUpdate assign(int field, String value) {
    return new Operation.FieldUpdate(
        new FieldId("f" + field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  @Test
  void setThatWasClearedAndFilledAgain_isNotLookedThrough() {
    Causal whole = set();
    Causal mine = decomposed(whole);
    Causal cleared = updated(whole, OTHER, 1, new Operation.Clear());
    Causal theirs = updated(cleared, OTHER, 2, new Operation.Add(List.of(Value.of(7))));
    given = 0;
    assertThat(mine.join(theirs)).isEqualTo(theirs);
    assertThat(given).isLessThan(10);
  }

  @Test
  void versionsOfOneObject_areJoinedByWhatWasChanged() {
    Causal mine = decomposed(set());
    Causal one = updated(mine, SELF, SIZE + 1, new Operation.Add(List.of(Value.of("x"))));
    Causal other = updated(mine, OTHER, 1, new Operation.Remove(List.of(Value.of(7))));
    Causal expected = Decomposition.whole(one).join(Decomposition.whole(other));
    given = 0;
    Causal joined = one.join(other);
    assertThat(given).isLessThan(10);
    assertThat(joined).isEqualTo(expected);
  }

  @Test
  void fieldsThatAreTheSame_stayOutside() {
    Causal whole = map();
    Causal mine = decomposed(whole);
    Causal theirs = updated(whole, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    Causal joined = mine.join(theirs);
    assertThat(Decomposition.inMemory(joined)).isEqualTo(1);
    assertThat(joined).isEqualTo(theirs);
  }

  @Test
  void latestTimestamp_isThatOfWhatIsInMemory() {
    Causal mine = decomposed(map());
    given = 0;
    Causal changed = updated(mine, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    given = 0;
    assertThat(changed.latestTimestamp()).isEqualTo(9);
    assertThat(given).isZero();
  }
}
