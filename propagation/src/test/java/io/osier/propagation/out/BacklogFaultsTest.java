package io.osier.propagation.out;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.Replica;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.out.OutboundLog.Leaving;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * One peer's stream while objects are written, the trail and the log lose what they have no room
 * for, the store is late, and frames are lost with the link: whatever happens, each delta comes
 * after what it builds on, and in the end the peer has everything.
 */
final class BacklogFaultsTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int RUNS = 2_000;
  private static final int STEPS = 400;

  /** More than a run without faults takes to come to the end. */
  private static final int STEPS_MAX = 100_000;

  /** What leaves, and the place behind it. */
  private record Sent(List<Shipment> shipments, Optional<Cursor> cursor) {}

  /** One run. */
  private static final class Run implements Replica {
    private final Random random;
    private final boolean hasLog;
    private final OutboundLog log;
    private final Backlog backlog;
    private final TreeMap<ObjectId, Causal> objects = new TreeMap<>();
    private final TreeMap<Long, ObjectId> logged = new TreeMap<>();
    private final Map<ObjectId, Causal> peer = new TreeMap<>();
    private final ArrayDeque<Sent> inFlight = new ArrayDeque<>();
    private Optional<Cursor> came = Optional.empty();
    private boolean streaming;
    private long written;
    private long dropped;
    private int epochs;
    private int keys;
    int scans;
    int readOfLog;

    Run(long seed) {
      random = new Random(seed);
      hasLog = random.nextInt(4) > 0;
      log = new OutboundLog(0, new Budget("trails", 1_000 + random.nextInt(10_000)));
      backlog =
          new Backlog(
              new Surroundings(
                  SELF,
                  List.of("us"),
                  KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
                  StreamSettings.DEFAULT,
                  Recovered.NOTHING,
                  this,
                  (dc, frame) -> {},
                  new PropagationStats(),
                  UpdateObserver.NONE),
              log);
      resume();
    }

    void run() {
      for (int i = 0; i < STEPS; i++) {
        switch (random.nextInt(12)) {
          case 0, 1, 2, 3 -> write();
          case 4 -> {
            for (int n = random.nextInt(40); n > 0; n--) {
              write();
            }
          }
          case 5, 6, 7 -> step();
          case 8, 9 -> deliver();
          case 10 -> {
            store();
            ship(random.nextInt(4));
          }
          default -> {
            if (random.nextInt(3) == 0) {
              resume();
            } else {
              streaming = false; // the window is full
            }
          }
        }
      }
      ship(Integer.MAX_VALUE);
      written = log.committed();
      for (int i = 0; !streaming || !inFlight.isEmpty(); i++) {
        assertThat(i).as("it comes to an end").isLessThan(STEPS_MAX);
        step();
        deliver();
      }
      assertThat(peer).isEqualTo(objects);
    }

    private void write() {
      int key = random.nextInt(3) > 0 ? ++keys : 1 + random.nextInt(Math.max(1, keys));
      ObjectId object = new ObjectId(Key.of("k" + key * 7919 % 1000), CrdtType.PN_COUNTER);
      Causal before = objects.getOrDefault(object, Causal.bottom(object.type()));
      long seen = before.context().through(SELF);
      long number = log.committed() + 1;
      Causal delta = before.prepare(new Operation.Increment(1), SELF, number, seen, 1, 0);
      objects.put(object, before.join(delta));
      logged.put(number, object);
      boolean hold = random.nextInt(4) == 0;
      log.commit(
          object,
          new Segment(seen, VersionVector.EMPTY, number, 1, number, 0, delta),
          number,
          hold);
      for (Leaving leaving = log.takeOp(); leaving != null; leaving = log.takeOp()) {
        leaves(leaving);
      }
    }

    /** Ships some of what is held, in another order than that of the numbers. */
    private void ship(int count) {
      for (int i = 0; i < count; i++) {
        Leaving leaving = log.takeDirty(Long.MAX_VALUE);
        if (leaving == null) {
          return;
        }
        leaves(leaving);
      }
    }

    private void leaves(Leaving leaving) {
      ObjectId object = leaving.log().object;
      Segment segment = log.shipped(leaving, requireNonNull(objects.get(object)).sizeBytes());
      if (streaming) {
        backlog.follow(segment.tick(), log.through());
        inFlight.add(new Sent(List.of(segment.shipment(object, SELF, 0)), backlog.cursor()));
      }
    }

    private void step() {
      if (streaming || !backlog.isAtHand()) {
        return;
      }
      List<Shipment> shipments = new ArrayList<>();
      if (!backlog.read(shipments, 0)) {
        backlog.atEnd(log.through());
        streaming = true;
      }
      inFlight.add(new Sent(shipments, backlog.cursor()));
    }

    private void deliver() {
      Sent sent = inFlight.poll();
      if (sent == null) {
        return;
      }
      for (Shipment s : sent.shipments) {
        Causal has = peer.getOrDefault(s.object(), Causal.bottom(s.object().type()));
        if (!s.content().isFull()) {
          assertThat(has.context().through(SELF)).isGreaterThanOrEqualTo(s.predecessor());
        }
        peer.put(s.object(), has.join(s.content()));
      }
      came = sent.cursor;
    }

    /** The link breaks: what is under way is lost. */
    private void resume() {
      inFlight.clear();
      streaming = false;
      backlog.goTo(new Frame.Resume(++epochs, 0, came));
    }

    /** The store writes, and drops the oldest part of the log. */
    private void store() {
      written += random.nextLong(log.committed() - written + 1);
      if (random.nextInt(8) == 0) {
        dropped += random.nextLong(written - dropped + 1);
        logged.headMap(dropped, true).clear();
      }
    }

    @Override
    public Causal state(ObjectId object) {
      return requireNonNull(objects.get(object));
    }

    @Override
    public void apply(Shipment update, Causal joined) {
      throw new AssertionError("nothing is applied");
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      scans += after.isEmpty() ? 1 : 0;
      return (after.isEmpty() ? objects : objects.tailMap(after.get(), false))
          .entrySet().stream()
              .limit(Math.min(limit, 8))
              .map(e -> new Entry(e.getKey(), e.getValue()))
              .toList();
    }

    @Override
    public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
      List<Entry> entries = scan(after, limit);
      return Optional.of(new Page(entries, entries.size() < 8));
    }

    @Override
    public List<Logged> logged(long after, int limit) {
      if (!hasLog) {
        return List.of();
      }
      List<Logged> found =
          logged.subMap(after, false, Math.max(after, written), true).entrySet().stream()
              .limit(limit)
              .map(e -> new Logged(e.getKey(), e.getValue()))
              .toList();
      readOfLog += found.size();
      return found;
    }

    @Override
    public long loggedAfter() {
      return hasLog ? dropped : Long.MAX_VALUE;
    }
  }

  @Test
  void peerGetsEverything_whateverIsLost() {
    int scans = 0;
    int readOfLog = 0;
    for (long seed = 1; seed <= RUNS; seed++) {
      Run run = new Run(seed);
      try {
        run.run();
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
      scans += run.scans;
      readOfLog += run.readOfLog;
    }
    assertThat(scans).as("the log was dropped, too").isGreaterThan(2 * RUNS);
    assertThat(readOfLog).as("the log was read").isGreaterThan(RUNS);
  }
}
