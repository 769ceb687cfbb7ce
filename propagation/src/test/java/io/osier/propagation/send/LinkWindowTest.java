package io.osier.propagation.send;

import static io.osier.propagation.host.TestSurroundings.SELF;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.FrameSink;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.net.SharedWindows;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Partitions that all have much to ship to one new peer, over one link. */
final class LinkWindowTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final StreamSettings SETTINGS = StreamSettings.DEFAULT;
  private static final int WINDOW = SETTINGS.windowBytes();
  private static final int FRAME = SETTINGS.frameBytes();
  private static final int OBJECT_BYTES = 16 << 10;

  /** More objects than fit in several windows. */
  private static final int OBJECTS = 2 * WINDOW / OBJECT_BYTES;

  private static final int PARTITIONS = 8;

  private final SharedWindows links = new SharedWindows(WINDOW);

  /** The same objects in each partition. */
  private final TreeMap<ObjectId, CrdtState> objects = new TreeMap<>();

  /** A partition's stream to the peer, and the frames that the peer has not acknowledged. */
  private final class Partition extends TestSurroundings.Objects {
    private final ArrayDeque<Frame.Updates> sent = new ArrayDeque<>();
    private final List<Frame> besides = new ArrayList<>();
    private final PeerStream stream;
    private int read;
    private int shipped;

    Partition() {
      this(links);
    }

    Partition(LinkWindows windows) {
      FrameSink sink =
          (to, frame) -> {
            if (frame instanceof Frame.Updates updates) {
              sent.add(updates);
            } else {
              besides.add(frame);
            }
          };
      ReplicationContext around =
          TestSurroundings.of(
              KeyspacePolicy.session("k", Duration.ofSeconds(1)),
              SETTINGS,
              RecoveredState.NOTHING,
              this,
              windows.of(sink));
      this.stream =
          new PeerStream(
              "us",
              around,
              new OutboundLog(0, new Budget("trails", 1 << 20)),
              0,
              new ConfirmedUpdates(new CommitTimes(0, 0), 0),
              0);
      stream.up(PEER, 0);
      stream.resume(PEER, new Frame.Resume(1, 0, Optional.empty()));
    }

    void catchUp() {
      stream.catchUp(VersionVector.EMPTY, 0, 0);
    }

    void acknowledge() {
      Frame.Updates frame = sent.poll();
      shipped += frame.shipments().size();
      stream.acknowledged(PEER, new Frame.Ack(1, frame.sequence()), new AckReserve(() -> 1), 0);
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      List<Entry> entries = TestSurroundings.page(objects, after, limit);
      read += entries.size();
      return entries;
    }

    @Override
    public @Nullable CrdtState state(ObjectId object) {
      return objects.get(object);
    }
  }

  private void fill(int count, int bytes) {
    CrdtState bottom = CrdtState.bottom(CrdtType.LWW_REGISTER);
    for (int i = 0; i < count; i++) {
      ObjectId object = new ObjectId(Key.of("key" + i), CrdtType.LWW_REGISTER);
      Operation assign = new Operation.Assign(Value.of(new byte[bytes]));
      objects.put(object, bottom.join(bottom.prepare(assign, SELF, i + 1, 0, 1_000, 0)));
    }
  }

  private List<Partition> partitions() {
    List<Partition> partitions = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      partitions.add(new Partition());
    }
    return partitions;
  }

  private long inFlight() {
    return links.inFlightBytes().getOrDefault("us", -1L);
  }

  /** Runs each partition as often as it has something to send. */
  private static void runAll(List<Partition> partitions) {
    while (partitions.stream().anyMatch(p -> p.stream.isDue())) {
      partitions.stream().filter(p -> p.stream.isDue()).forEach(Partition::catchUp);
    }
  }

  /**
   * Each partition had a window of its own: eight times the memory, and eight times the link's
   * queue.
   */
  @Test
  void allPartitionsTogether_haveOneWindowUnderWay_andASmallShareEach() {
    fill(OBJECTS, OBJECT_BYTES);
    runAll(partitions());
    assertThat(inFlight())
        .isBetween((long) WINDOW, WINDOW + PARTITIONS * (WINDOW / 16L + 2L * FRAME));
  }

  @Test
  void partitionThatIsNotAcknowledged_takesTheWindow_andTheOthersGoOn() {
    fill(OBJECTS, OBJECT_BYTES);
    Partition slow = new Partition();
    runAll(List.of(slow));
    Partition other = new Partition();
    for (int i = 0; i < 10 * OBJECTS && other.shipped < OBJECTS; i++) {
      runAll(List.of(other));
      other.acknowledge();
    }
    assertThat(other.shipped).isEqualTo(OBJECTS);
    assertThat(other.stream.mode()).isEqualTo(PeerStream.Mode.STREAMING);
  }

  /** Even if the link would take far more: frames in flight take memory somewhere. */
  @Test
  void oneStream_hasNoMoreThanAWindowUnderWay() {
    fill(OBJECTS, OBJECT_BYTES);
    Partition alone = new Partition(LinkWindows.NONE);
    runAll(List.of(alone));
    assertThat(alone.stream.window().bytes()).isBetween((long) WINDOW, WINDOW + 2L * FRAME);
    alone.acknowledge();
    assertThat(alone.stream.window().bytes()).isLessThan(WINDOW);
  }

  @Test
  void whatIsAcknowledged_givesItsPartOfTheWindowBack() {
    fill(OBJECTS, OBJECT_BYTES);
    List<Partition> partitions = partitions();
    runAll(partitions);
    while (partitions.stream().anyMatch(p -> !p.sent.isEmpty())) {
      partitions.stream().filter(p -> !p.sent.isEmpty()).forEach(Partition::acknowledge);
      runAll(partitions);
    }
    assertThat(inFlight()).isZero();
    assertThat(partitions).allMatch(p -> p.shipped == OBJECTS);
  }

  /** It includes acknowledgements that were lost, or not sent because a later one was due. */
  @Test
  void acknowledgement_isOfAllFramesUpToIt_andOfItsEpochAlone() {
    fill(OBJECTS, OBJECT_BYTES);
    Partition partition = new Partition();
    partition.catchUp();
    Frame.Ack last = new Frame.Ack(1, partition.sent.getLast().sequence());
    partition.stream.acknowledged(
        PEER, new Frame.Ack(0, last.sequence()), new AckReserve(() -> 1), 0);
    assertThat(partition.stream.window().bytes()).as("of another epoch").isPositive();
    partition.stream.acknowledged(PEER, last, new AckReserve(() -> 1), 0);
    assertThat(partition.stream.window().bytes()).isZero();
  }

  @Test
  void linkThatIsLost_givesItsWindowBack() {
    fill(OBJECTS, OBJECT_BYTES);
    List<Partition> partitions = partitions();
    runAll(partitions);
    partitions.forEach(p -> p.stream.down(0));
    assertThat(inFlight()).isZero();
  }

  @Test
  void catchingUp_takesATurnOfBoundedWork_andIsDueAgain() {
    fill(OBJECTS, OBJECT_BYTES);
    Partition partition = new Partition();
    partition.catchUp();
    assertThat(partition.sent).hasSize(PeerStream.SLICE_FRAMES);
    assertThat(partition.stream.isDue()).isTrue();
  }

  /** Nothing is shipped, so only the number of objects that are looked at bounds the turn. */
  @Test
  void scanOfWhatThePeerHas_isDoneInTurns() {
    fill(10 * PeerStream.SLICE_OBJECTS, 10);
    Partition partition = new Partition();
    partition.stream.resume(
        PEER, new Frame.Resume(2, 10L * PeerStream.SLICE_OBJECTS, Optional.empty()));
    partition.read = 0;
    partition.catchUp();
    assertThat(partition.read).isBetween(PeerStream.SLICE_OBJECTS, 2 * PeerStream.SLICE_OBJECTS);
    assertThat(partition.stream.isDue()).isTrue();
    runAll(List.of(partition));
    assertThat(partition.stream.mode()).isEqualTo(PeerStream.Mode.STREAMING);
  }

  /** Returns a partition with entries in flight of a large set that is pulled. */
  private Partition pulled() {
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of(new byte[2 * SETTINGS.pullBytes()])));
    ObjectId object = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    objects.put(object, bottom.join(bottom.prepare(add, SELF, 1, 0, 0, 0)));
    Partition partition = new Partition();
    partition.catchUp(); // reads the object
    partition.catchUp(); // and offers it
    Frame.Offer offer = (Frame.Offer) partition.besides.getFirst();
    partition.stream.pull(
        PEER,
        new Frame.Pull(offer.epoch(), offer.number(), object, false, EntryKey.NONE, List.of(0)),
        0);
    assertThat(inFlight()).isGreaterThan(SETTINGS.pullBytes());
    return partition;
  }

  @Test
  void entriesThatArePulled_giveTheirPartBack_whenTheStreamBeginsAnew() {
    pulled().stream.resume(PEER, new Frame.Resume(2, 0, Optional.empty()));
    assertThat(inFlight()).isZero();
  }

  @Test
  void entriesThatArePulled_giveTheirPartBack_whenTheLinkIsDown() {
    pulled().stream.down(0);
    assertThat(inFlight()).isZero();
  }
}
