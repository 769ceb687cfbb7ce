package io.osier.propagation.send;

import static io.osier.propagation.host.TestSurroundings.SELF;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Scans of all objects that are interrupted, and that are followed by others because the shipped
 * log has no room for the updates made meanwhile: none sends again what an earlier one has sent.
 */
final class BacklogScanTest {

  /** This many objects are read in one step. */
  private static final int PAGE = 4;

  private final TreeMap<ObjectId, CrdtState> objects = new TreeMap<>();
  private boolean isRead = true;
  private long loggedAfter;

  private final ObjectAccess replica =
      new TestSurroundings.Objects() {
        @Override
        public CrdtState state(ObjectId object) {
          return requireNonNull(objects.get(object));
        }

        @Override
        public List<Entry> scan(Optional<ObjectId> after, int limit) {
          return TestSurroundings.page(objects, after, limit);
        }

        @Override
        public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
          List<Entry> entries = scan(after, PAGE);
          return isRead ? Optional.of(new Page(entries, entries.size() < PAGE)) : Optional.empty();
        }

        @Override
        public long loggedAfter() {
          return loggedAfter;
        }
      };

  /** A log with room for a few objects. */
  private final OutboundLog log = new OutboundLog(0, new Budget("trails", 2_000));

  private final Backlog backlog =
      UnofferedBacklog.of(
          TestSurroundings.of(
              KeyspacePolicy.causal("k", Duration.ofSeconds(1)), RecoveredState.NOTHING, replica),
          log);

  private final List<String> sent = new ArrayList<>();
  private int epochs;

  /** Writes an object, once, and ships it to the connected peers. */
  private void write(String key) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
    long number = log.committed() + 1;
    CrdtState state =
        CrdtState.bottom(object.type()).prepare(new Operation.Increment(1), SELF, number, 0, 1, 0);
    objects.put(object, state);
    log.commit(
        object, new LogSegment(0, VersionVector.EMPTY, number, 1, 0, 0, state), number, false);
    log.shipped(requireNonNull(log.takeOp()), state.sizeBytes());
  }

  private void write(String prefix, int count) {
    for (int i = 0; i < count; i++) {
      write(prefix + (100 + i));
    }
  }

  /**
   * Has the peer, which has made nothing visible yet, resume from a place, encoded as on the wire.
   */
  private void resume(Optional<Cursor> place) {
    Frame.Resume resume = new Frame.Resume(++epochs, 0, place);
    assertThat(FrameCodec.decode(SELF, FrameCodec.encode(SELF, resume))).isEqualTo(resume);
    backlog.goTo(resume);
  }

  /** Sends the shipments of one step; returns whether there may be more. */
  private boolean step() {
    if (!backlog.isAtHand()) {
      return true;
    }
    List<Shipment> shipments = new ArrayList<>();
    boolean more = backlog.read(shipments, 0);
    shipments.forEach(s -> sent.add(s.object().key().toString()));
    return more;
  }

  private void toTheEnd() {
    while (step()) {
      // goes on
    }
  }

  private List<String> written() {
    return objects.keySet().stream().map(o -> o.key().toString()).toList();
  }

  @Test
  void scans_sendNothingAgainAndAgain_howeverOftenTheLinkIsReset() {
    write("m", 50);
    resume(Optional.empty());
    boolean more = true;
    for (int i = 0; more; i++) {
      more = step();
      if (i % 5 == 4) {
        resume(backlog.cursor());
        more = true;
      }
      if (i % 10 == 9 && i < 100) { // more than the shipped log keeps, and before what was scanned
        write("a" + (900 - i), 12);
      }
    }
    assertThat(log.prunedTick()).as("the shipped log lost places").isPositive();
    assertThat(sent).containsAll(written());
    assertThat(sent.stream().filter(key -> key.startsWith("m"))).doesNotHaveDuplicates();
    // Objects that were written after a scan began, and found by it, are found again by the next
    // one.
    for (String key : written()) {
      assertThat(Collections.frequency(sent, key)).as(key).isLessThanOrEqualTo(2);
    }
  }

  /**
   * Each added datacenter takes a tick, and in a datacenter that is new itself most objects are the
   * others': then a scan begins at a tick beyond the last commit number.
   */
  @Test
  void scanOfFewUpdates_afterDatacentersWereAdded_hasPlacesThatCanBeSent() {
    write("m", 2);
    log.mark(0);
    log.mark(0);
    for (char other = 'n'; other < 'z'; other++) {
      ObjectId object = new ObjectId(Key.of("" + other), CrdtType.PN_COUNTER);
      objects.put(object, CrdtState.bottom(object.type()));
    }
    resume(Optional.empty());
    step();
    write("a");
    resume(backlog.cursor());
    toTheEnd();
    assertThat(sent).containsExactlyInAnyOrderElementsOf(List.of("m100", "m101", "a"));
  }

  /** The last frames of a scan were lost, which was followed by another one. */
  @Test
  void scan_goesOnWhereItsLastFrameCame() {
    write("m", 10);
    resume(Optional.empty());
    step();
    assertThat(sent).hasSize(PAGE);
    Optional<Cursor> came = backlog.cursor();
    write("a", 50);
    toTheEnd();
    sent.subList(PAGE, sent.size()).clear();
    resume(came);
    toTheEnd();
    assertThat(sent).containsExactlyInAnyOrderElementsOf(written());
  }

  /**
   * The scan's place must lead a peer that resumes there to the scan, but not to updates that were
   * sent before it.
   */
  @Test
  void scanOfWhichNothingWasReadYet_keepsWhatWasSentBefore() {
    write("m", 10);
    resume(Optional.empty());
    toTheEnd();
    write("a", 50);
    isRead = false;
    step();
    step();
    resume(backlog.cursor());
    isRead = true;
    toTheEnd();
    assertThat(sent).containsExactlyInAnyOrderElementsOf(written());
  }

  /** The store keeps a part of the log; updates that are in the shipped log are read there. */
  @Test
  void placeInTheShippedLog_needsNoLog() {
    write("m", 10);
    resume(Optional.empty());
    toTheEnd();
    backlog.atEnd(log.through());
    loggedAfter = log.committed();
    write("a");
    resume(backlog.cursor());
    isRead = false;
    assertThat(backlog.isAtHand()).as("no scan").isTrue();
    toTheEnd();
    assertThat(sent).containsExactlyInAnyOrderElementsOf(written());
  }

  @Test
  void whatWasSentAsItWasShipped_isNotScanned() {
    write("m", 10);
    resume(Optional.empty());
    toTheEnd();
    backlog.atEnd(log.through());
    write("n");
    backlog.follow(log.ticks(), log.through());
    sent.add("n");
    Optional<Cursor> came = backlog.cursor();
    write("a", 50);
    resume(came);
    toTheEnd();
    assertThat(sent).containsExactlyInAnyOrderElementsOf(written());
  }
}
