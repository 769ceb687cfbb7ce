package io.osier.bench.sim.check;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ends at which updates are missing, twice, or there without having been made or journalled. */
final class ExactlyOnceCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final Map<ObjectId, CausalContext> forgotten = new HashMap<>();
  private final ExactlyOnceCheck check =
      new ExactlyOnceCheck(
          Unit.pair().getFirst(), o -> forgotten.getOrDefault(o, CausalContext.EMPTY));

  private final Map<ReplicaId, Map<ObjectId, CrdtState>> contents =
      new TreeMap<>(Map.of(EU, new TreeMap<>(), US, new TreeMap<>()));

  /** One whose journal is joined delta by delta, and one whose journal is joined in groups. */
  static Stream<ObjectId> sets() {
    Map<Boolean, ObjectId> sets = new TreeMap<>();
    for (int i = 0; sets.size() < 2; i++) {
      Key key = Key.of("set-" + i);
      sets.putIfAbsent(Math.floorMod(key.hashCode(), 4) == 0, new ObjectId(key, CrdtType.AW_SET));
    }
    return sets.values().stream();
  }

  private static ObjectId set() {
    return sets().iterator().next();
  }

  private static Operation add(String element) {
    return new Operation.Add(Value.of(element));
  }

  private Map<ObjectId, CrdtState> held(ReplicaId at) {
    return requireNonNull(contents.get(at), "one of the two");
  }

  private CrdtState content(ReplicaId at, ObjectId object) {
    return held(at).getOrDefault(object, CrdtState.bottom(object.type()));
  }

  /** An update that {@code at} makes of what it holds. */
  private Shipment update(ReplicaId at, ObjectId object, int number, Operation operation) {
    CrdtState state = content(at, object);
    long predecessor = state.context().last(at);
    CrdtState delta = state.prepare(operation, at, number, predecessor, number, 0);
    return new Shipment(object, at, predecessor, VersionVector.EMPTY, number, 1, 0, delta);
  }

  private void journals(ReplicaId at, Shipment update) {
    check.journalled(at, update);
  }

  private void holds(ReplicaId at, Shipment update) {
    CrdtState before = content(at, update.object());
    held(at).put(update.object(), before.join(update.content()));
  }

  /** An update that is made at one datacenter and comes to both. */
  private Shipment makes(ReplicaId at, ObjectId object, int number, Operation operation) {
    Shipment update = makesHere(at, object, number, operation);
    ReplicaId other = at.equals(EU) ? US : EU;
    journals(other, update);
    holds(other, update);
    return update;
  }

  private Shipment makesHere(ReplicaId at, ObjectId object, int number, Operation operation) {
    Shipment update = update(at, object, number, operation);
    journals(at, update);
    check.made(update);
    holds(at, update);
    return update;
  }

  private void ended() {
    check.ended(contents, Set.of());
  }

  @ParameterizedTest
  @MethodSource("sets")
  void allOfBoth_once_isFine(ObjectId set) {
    makes(EU, set, 1, add("a"));
    makes(US, set, 1, add("b"));
    makes(EU, set, 2, new Operation.Remove(List.of(Value.of("b"))));
    ended();
    assertThat(check.updates()).isEqualTo(3);
    assertThat(check.committed()).isEqualTo(Map.of(EU, 2L, US, 1L));
  }

  @ParameterizedTest
  @MethodSource("sets")
  void whatIsMissingEverywhere_isNoticed(ObjectId set) {
    makes(EU, set, 1, add("a"));
    check.made(update(US, set, 1, add("b")));
    assertThatThrownBy(this::ended)
        .isInstanceOf(Violation.class)
        .hasMessageContaining("updates are missing or twice in " + set);
  }

  @ParameterizedTest
  @MethodSource("sets")
  void whatNobodyMade_isNoticed(ObjectId set) {
    makes(EU, set, 1, add("a"));
    Shipment surplus = update(US, set, 1, add("b"));
    for (ReplicaId at : contents.keySet()) {
      journals(at, surplus);
      holds(at, surplus);
    }
    assertThatThrownBy(this::ended).hasMessageContaining("missing or twice in " + set);
  }

  /** Done once more, it has a number of its own. */
  @Test
  void incrementThatIsDoneTwice_isNoticed() {
    ObjectId counter = new ObjectId(Key.of("c"), CrdtType.PN_COUNTER);
    makes(EU, counter, 1, new Operation.Increment(5));
    ended();
    Shipment again = update(EU, counter, 2, new Operation.Increment(5));
    for (ReplicaId at : contents.keySet()) {
      journals(at, again);
      holds(at, again);
    }
    assertThatThrownBy(this::ended).hasMessageContaining("missing or twice in " + counter);
  }

  @ParameterizedTest
  @MethodSource("sets")
  void whatIsHeldAndNotJournalled_isNoticed(ObjectId set) {
    Shipment update = makesHere(EU, set, 1, add("a"));
    journals(US, update);
    holds(US, update);
    ended();
    Shipment more = makesHere(EU, set, 2, add("b"));
    holds(US, more);
    assertThatThrownBy(this::ended)
        .isInstanceOf(Violation.class)
        .hasMessageContaining("us/1 holds of " + set + " what it did not journal");
  }

  @ParameterizedTest
  @MethodSource("sets")
  void whatIsJournalledAndNotHeld_isNoticed(ObjectId set) {
    makes(EU, set, 1, add("a"));
    journals(US, makesHere(EU, set, 2, add("b")));
    assertThatThrownBy(this::ended)
        .hasMessageContaining("us/1 holds of " + set + " what it did not journal");
  }

  @Test
  void whatIsHeldOfNoJournal_isNoticed() {
    Shipment update = makesHere(EU, set(), 1, add("a"));
    holds(US, update);
    assertThatThrownBy(this::ended).hasMessageContaining("the journal gives nothing");
  }

  @Test
  void whatWasLeftByTheIncarnationBefore_needNoJournal() {
    makes(EU, set(), 1, add("a"));
    check.started(US, Map.copyOf(held(US)));
    makes(EU, set(), 2, add("b"));
    ended();
  }

  @Test
  void whatWasLostWithItsMemory_isNotWanted_andWhatCameFromItIs() {
    makes(EU, set(), 1, add("a"));
    check.made(update(EU, set(), 2, add("b")));
    check.ended(contents, Set.of(EU));
    assertThatThrownBy(this::ended).hasMessageContaining("missing or twice in " + set());
    // The one before the last that anybody has is lacking.
    Shipment last = makesHere(EU, set(), 3, add("c"));
    journals(US, last);
    holds(US, last);
    assertThatThrownBy(() -> check.ended(contents, Set.of(EU)))
        .hasMessageContaining("missing or twice in " + set());
  }

  @Test
  void commitNumber_thatIsGivenAgain_isNoticed() {
    makes(EU, set(), 2, add("a"));
    ObjectId other = new ObjectId(Key.of("other"), CrdtType.AW_SET);
    Shipment again = update(EU, other, 2, add("b"));
    assertThatThrownBy(() -> check.made(again))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("eu/1 gave commit number 2 again, after 2");
  }

  @Test
  void objectThatNobodyWrote_isNoticed() {
    Shipment update = update(EU, set(), 1, add("a"));
    for (ReplicaId at : contents.keySet()) {
      journals(at, update);
      holds(at, update);
    }
    assertThatThrownBy(this::ended).hasMessageContaining(set() + " is there, but nobody wrote it");
  }

  @Test
  void removedAndForgotten_isFine_andWhatWasNotRemovedIsNoticed() {
    makes(EU, set(), 1, add("a"));
    makes(EU, set(), 2, new Operation.Clear());
    for (Map.Entry<ReplicaId, Map<ObjectId, CrdtState>> of : contents.entrySet()) {
      check.forgotten(of.getKey(), set());
      forgotten.put(set(), content(of.getKey(), set()).context());
      of.getValue().remove(set());
    }
    ended();
    check.made(update(US, set(), 1, add("b")));
    assertThatThrownBy(this::ended).hasMessageContaining("missing or twice in " + set());
  }
}
