package io.osier.propagation.heal;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.Forgotten;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is read of a store of large objects for one question or answer. */
final class BoundedPagesTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ReplicaId GONE = new ReplicaId("ap", 1);
  private static final int OBJECTS = 600;
  private static final int OBJECT_BYTES = 100_000;

  private final TreeMap<ObjectId, Causal> objects = new TreeMap<>();
  private long readBytes;
  private final List<Frame> sent = new ArrayList<>();

  private final class Disk extends TestSurroundings.Objects {
    @Override
    public @Nullable Causal state(ObjectId object) {
      return objects.get(object);
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
      for (Map.Entry<ObjectId, Causal> e : rest.entrySet()) {
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

  private Propagation propagation(Recovered recovered) {
    return propagation(recovered, OBJECTS, OBJECT_BYTES);
  }

  private Propagation propagation(Recovered recovered, int count, int bytes) {
    Causal empty = Causal.bottom(CrdtType.LWW_REGISTER);
    for (int i = 0; i < count; i++) {
      Operation assign = new Operation.Assign(Value.of("v".repeat(bytes)));
      ObjectId object = new ObjectId(Key.of(String.format("%03d", i)), CrdtType.LWW_REGISTER);
      objects.put(object, empty.join(empty.prepare(assign, GONE, i + 1, 0, 0, 0)));
    }
    return new Propagation(
        SELF,
        List.of(PEER.dc()),
        KeyspacePolicy.session("k", Duration.ofSeconds(1)),
        StreamSettings.DEFAULT,
        recovered,
        new Disk(),
        (to, frame) -> sent.add(frame),
        UpdateObserver.NONE,
        0);
  }

  private void healed(long after, int answersMax) {
    healed(propagation(Recovered.NOTHING), after, answersMax);
    assertThat(after > 0 || readBytes < 2 * OBJECT_BYTES).as("nothing is read twice").isTrue();
  }

  private void healed(Propagation propagation, long after, int answersMax) {
    propagation.peerUp(PEER, true, 0);
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
  void healing_readsWhatItsAnswerHolds() {
    healed(0, OBJECTS + 1);
  }

  /** Of what the peer has nothing is sent, but it is read. */
  @Test
  void healing_readsAFewMegabytes_whereNothingIsMissing() {
    healed(OBJECTS, OBJECTS * OBJECT_BYTES / (4 << 20) + 2);
  }

  /** What was read last and does not fit any more comes with the next answer. */
  @Test
  void healing_isWhole_thoughTheLastStepDoesNotFit() {
    for (int count = 180; count < 220; count++) {
      objects.clear();
      healed(propagation(Recovered.NOTHING, count, 300), 0, 3);
    }
  }

  @Test
  void verifying_readsAFewMegabytesAtATime() {
    Recovered uncertain =
        new Recovered(
            2,
            false,
            0,
            0,
            0,
            VersionVector.EMPTY,
            Set.of(),
            Map.of(),
            false,
            Forgotten.NOTHING,
            1);
    Propagation propagation = propagation(uncertain);
    propagation.peerUp(PEER, true, 0);
    propagation.tick(1_000_000_000L, 1_000);
    List<Frame.Verify> asked =
        sent.stream().filter(Frame.Verify.class::isInstance).map(Frame.Verify.class::cast).toList();
    assertThat(asked).hasSize(1);
    assertThat(asked.getFirst().objects()).hasSizeGreaterThan(10);
    assertThat(readBytes).isLessThan(5 << 20);
  }
}
