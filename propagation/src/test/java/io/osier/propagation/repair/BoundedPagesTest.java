package io.osier.propagation.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.LeasedEntries;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The bytes that are read of a store of large objects for one request or answer. */
final class BoundedPagesTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ReplicaId GONE = new ReplicaId("ap", 1);
  private static final ReplicaId OTHER = new ReplicaId("sa", 1);
  private static final int OBJECTS = 600;
  private static final int OBJECT_BYTES = 100_000;

  private final TreeMap<ObjectId, CrdtState> objects = new TreeMap<>();
  private long readBytes;
  private final List<Frame> sent = new ArrayList<>();

  private final class Disk extends TestSurroundings.Objects {
    @Override
    public @Nullable CrdtState state(ObjectId object) {
      CrdtState state = objects.get(object);
      readBytes += state == null ? 0 : state.heapBytes();
      return state;
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      objects.put(update.object(), joined);
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return pageNow(after, limit, Long.MAX_VALUE).entries();
    }

    @Override
    public Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
      List<Entry> entries = new ArrayList<>();
      long bytes = 0;
      var rest = after.isEmpty() ? objects : objects.tailMap(after.get(), false);
      for (Map.Entry<ObjectId, CrdtState> e : rest.entrySet()) {
        if (entries.size() == limit || bytes >= bytesMax) {
          break;
        }
        entries.add(new Entry(e.getKey(), e.getValue()));
        bytes += e.getValue().sizeBytes();
      }
      readBytes += bytes;
      return new Page(entries, entries.size() == rest.size());
    }
  }

  private static ObjectId object(int number) {
    return new ObjectId(Key.of(String.format("%03d", number)), CrdtType.LWW_REGISTER);
  }

  private static CrdtState register(ReplicaId by, long number, int bytes) {
    CrdtState empty = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of("v".repeat(bytes)));
    return empty.join(empty.prepare(assign, by, number, 0, 0, 0));
  }

  private Propagation propagation(RecoveredState recovered) {
    return propagation(recovered, OBJECTS, OBJECT_BYTES);
  }

  private Propagation propagation(RecoveredState recovered, int count, int bytes) {
    for (int i = 0; i < count; i++) {
      objects.put(object(i), register(GONE, i + 1, bytes));
    }
    return new Propagation(
        new ReplicationContext(
            SELF,
            List.of(PEER.dc(), OTHER.dc()),
            KeyspacePolicy.session("k", Duration.ofSeconds(1)),
            StreamSettings.DEFAULT,
            recovered,
            new Disk(),
            (to, frame) -> sent.add(frame),
            UpdateObserver.NONE),
        0);
  }

  private void repaired(long after, int answersMax) {
    repaired(propagation(RecoveredState.NOTHING), after, answersMax);
    assertThat(after > 0 || readBytes < 2 * OBJECT_BYTES).as("nothing is read twice").isTrue();
  }

  private void repaired(Propagation propagation, long after, int answersMax) {
    propagation.peerUp(PEER, 0);
    Optional<ObjectId> scanned = Optional.of(new ObjectId(Key.of("0"), CrdtType.LWW_REGISTER));
    int answers = 0;
    List<ObjectId> came = new ArrayList<>();
    while (scanned.isPresent()) {
      sent.clear();
      readBytes = 0;
      Frame.Page page = new Frame.Page(Frame.Place.NONE, scanned);
      propagation.received(
          PEER, new Frame.Heal(++answers, GONE, after, CausalContext.EMPTY, page), 0, 0);
      Frame.States states = (Frame.States) sent.getLast();
      states.shipments().forEach(s -> came.add(s.object()));
      assertThat(readBytes).as("for answer %d", answers).isLessThan(5 << 20);
      scanned = states.next().flatMap(Frame.Page::scanned);
      assertThat(answers).isLessThanOrEqualTo(answersMax);
    }
    if (after == 0) {
      assertThat(came).containsExactlyElementsOf(objects.keySet());
    }
  }

  @Test
  void repair_readsWhatItsAnswerHolds() {
    repaired(0, OBJECTS + 1);
  }

  /** Objects of which the peer has nothing are sent; the others are only read. */
  @Test
  void repair_readsAFewMegabytes_whereNothingIsMissing() {
    repaired(OBJECTS, OBJECTS * OBJECT_BYTES / (4 << 20) + 2);
  }

  /** The objects of the last step that do not fit any more come with the next answer. */
  @Test
  void repair_isWhole_thoughTheLastStepDoesNotFit() {
    for (int count = 180; count < 220; count++) {
      objects.clear();
      repaired(propagation(RecoveredState.NOTHING, count, 300), 0, 3);
    }
  }

  /** A repair of updates that were received in this life reads the log. */
  @Test
  void repairByTheLog_readsAFewMegabytes_whereNothingIsMissing() {
    Propagation propagation = propagation(RecoveredState.NOTHING, 0, 0);
    propagation.peerUp(PEER, 0);
    List<Shipment> shipments = new ArrayList<>();
    for (int i = 1; i <= 200; i++) {
      shipments.add(
          new Shipment(
              object(i), PEER, 0, VersionVector.EMPTY, i, 1, 0, register(PEER, i, OBJECT_BYTES)));
    }
    long epoch = ((Frame.Resume) sent.getLast()).epoch();
    Optional<Frame.Cursor> cursor =
        Optional.of(new Frame.Cursor(1, 200, 200, 200, Optional.empty()));
    propagation.received(
        PEER, Frames.updates(Frame.Kind.OPS, epoch, 1, 200, cursor, 0, shipments), 0, 0);
    assertThat(objects).hasSize(200);
    propagation.peerUp(OTHER, 0);
    Optional<Frame.Page> next = Optional.of(new Frame.Page(Frame.Place.NONE, Optional.empty()));
    int answers = 0;
    while (next.isPresent()) {
      sent.clear();
      readBytes = 0;
      propagation.received(
          OTHER, new Frame.Heal(++answers, PEER, 200, CausalContext.EMPTY, next.get()), 0, 0);
      assertThat(readBytes).as("for answer %d", answers).isLessThan(5 << 20);
      next = ((Frame.States) sent.getLast()).next();
    }
    assertThat(answers).as("200 times 100 kB").isBetween(5, 6);
  }

  /** Returns the progress of a store that may have lost something. */
  private static RecoveredState uncertain() {
    return TestSurroundings.recovered(2, false, 0);
  }

  private List<Frame.Verify> asked() {
    return sent.stream()
        .filter(Frame.Verify.class::isInstance)
        .map(Frame.Verify.class::cast)
        .toList();
  }

  /** The sets' entries lie outside the heap, and are not read to compare the contexts. */
  @Test
  void verifying_asksForManyLargeSetsAtOnce() {
    Propagation propagation = propagation(uncertain(), 0, 0);
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      elements.add(Value.of("element " + i));
    }
    Operation adds = new Operation.Add(elements);
    CrdtState large = new LeasedEntries().of(empty.join(empty.prepare(adds, GONE, 1, 0, 0, 0)));
    assertThat(large.sizeBytes()).isGreaterThan(100_000);
    for (int i = 0; i < 200; i++) {
      objects.put(new ObjectId(Key.of(String.format("%03d", i)), CrdtType.AW_SET), large);
    }
    propagation.peerUp(PEER, 0);
    propagation.tick(1_000_000_000L, 1_000);
    assertThat(asked()).singleElement().satisfies(v -> assertThat(v.objects()).hasSize(200));
  }

  @Test
  void verifying_readsAFewMegabytesAtATime() {
    Propagation propagation = propagation(uncertain());
    propagation.peerUp(PEER, 0);
    propagation.tick(1_000_000_000L, 1_000);
    assertThat(asked())
        .singleElement()
        .satisfies(v -> assertThat(v.objects()).hasSizeGreaterThan(10));
    assertThat(readBytes).isLessThan(5 << 20);
  }
}
