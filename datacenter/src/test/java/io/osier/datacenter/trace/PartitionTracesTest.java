package io.osier.datacenter.trace;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.VersionVector;
import io.osier.core.trace.TraceSample;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.config.TraceSettings;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Updates of one partition, step by step and on a clock that stands until it is moved. */
class PartitionTracesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final KeyspacePolicy POLICY = KeyspacePolicy.session("k", Duration.ofSeconds(1));
  private static final long MILLI = 1_000_000;

  private record Added(String name, long millis, Attributes says) {
    <T> T says(AttributeKey<T> key) {
      return says.get(key);
    }
  }

  /** Remembers all. */
  private static final class Sink implements SpanSink {
    final List<Added> spans = new ArrayList<>();
    boolean full;
    int givenUp;

    @Override
    public boolean hasRoom(int count) {
      return !full;
    }

    @Override
    public void add(
        TraceId trace,
        long id,
        long parent,
        String name,
        SpanKind kind,
        long startNanos,
        long endNanos,
        Attributes attributes) {
      spans.add(new Added(name, (endNanos - startNanos) / MILLI, attributes));
    }

    @Override
    public void givenUp(int updates) {
      givenUp += updates;
    }

    @Override
    public Snapshot.Traces figures() {
      return new Snapshot.Traces(spans.size(), new TreeMap<>());
    }

    @Override
    public void close() {}
  }

  private final Sink sink = new Sink();
  private final Map<String, List<TraceNote>> told = new TreeMap<>();
  private long nanos;

  private final Traces.Time time =
      new Traces.Time() {
        @Override
        public long nanos() {
          return nanos;
        }

        @Override
        public long epochNanos() {
          return 1_000_000 * MILLI + nanos;
        }
      };

  private Traces traces(ReplicaId self, boolean keys) {
    TraceSettings settings = new TraceSettings(TraceSample.of(1), Optional.empty(), keys);
    return new Traces(
        self,
        settings,
        sink,
        (dc, note) -> told.computeIfAbsent(dc, d -> new ArrayList<>()).add(TraceNote.decode(note)),
        time);
  }

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
  }

  private static Shipment shipment(
      ReplicaId origin, String key, long predecessor, long last, int updates) {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState content = bottom.seen(CausalContext.range(origin, predecessor, last));
    return new Shipment(
        object(key), origin, predecessor, VersionVector.EMPTY, last, updates, 40, content);
  }

  private static Frame.Updates frame(Frame.Kind kind, long sentMillis, Shipment... shipments) {
    return new Frame.Updates(
        kind,
        1,
        1,
        0,
        VersionVector.EMPTY,
        Optional.empty(),
        false,
        sentMillis,
        List.of(shipments));
  }

  private List<String> names() {
    return sink.spans.stream().map(Added::name).toList();
  }

  @Test
  void off_asksForNothing() {
    assertThat(Traces.OFF.isOn()).isFalse();
    assertThat(Traces.OFF.partition(POLICY, 0, List.of("us"))).isSameAs(UpdateObserver.NONE);
    assertThat(UpdateObserver.NONE.isOn()).isFalse();
  }

  @Test
  void heldUpdate_isShippedToWhoKeepsUp_andLaterToWhoWasAway() {
    Traces traces = traces(EU, false);
    UpdateObserver eu = traces.partition(POLICY, 0, List.of("ap", "us"));
    eu.committed(object("a"), 1, true, () -> "hot", nanos, true);
    nanos += 30 * MILLI;
    eu.committed(object("a"), 2, true, () -> "hot", nanos, true);
    nanos += 70 * MILLI;
    Shipment round = shipment(EU, "a", 0, 2, 2);
    eu.left(Frame.Kind.ROUND, round, 5 * MILLI);
    eu.shipped("us", Frame.Kind.ROUND, false, List.of(round), nanos);
    assertThat(names()).containsExactly("hold", "hold", "ship", "ship");
    assertThat(sink.spans).extracting(Added::millis).containsExactly(100L, 70L, 0L, 0L);
    assertThat(sink.spans.getFirst().says(SpanAttributes.WHY)).isEqualTo("hot");
    assertThat(sink.spans.getFirst().says(SpanAttributes.COORDINATION_MILLIS)).isEqualTo(5);
    // Which updates are in it the shipment does not say, but the note before it does.
    assertThat(told.get("us"))
        .containsExactly(
            new TraceNote(
                "k", 0, List.of(new TraceNote.Joined(2, 1, 100), new TraceNote.Joined(2, 2, 70))));

    nanos += 900 * MILLI;
    Shipment missed = shipment(EU, "a", 0, 7, 7);
    eu.shipped("ap", Frame.Kind.CATCH_UP, true, List.of(missed), nanos);
    Added late = sink.spans.getLast();
    assertThat(late.name()).isEqualTo("ship");
    assertThat(late.millis()).isEqualTo(900);
    assertThat(late.says(SpanAttributes.PEER)).isEqualTo("ap");
    assertThat(late.says(SpanAttributes.VIA)).isEqualTo("catch-up");
    assertThat(late.says(SpanAttributes.OUTAGE)).isTrue();
    assertThat(requireNonNull(told.get("ap")).getFirst().joined())
        .extracting(TraceNote.Joined::last)
        .contains(7L);
    int before = sink.spans.size();
    eu.shipped("ap", Frame.Kind.CATCH_UP, true, List.of(missed), nanos);
    assertThat(sink.spans).as("once to each").hasSize(before);
  }

  @Test
  void updatesThatNobodyIsAnsweredFor_haveARootToo() {
    UpdateObserver eu = traces(EU, false).partition(POLICY, 0, List.of());
    nanos += 50 * MILLI;
    eu.committed(object("a"), 1, false, () -> "", nanos - 20 * MILLI, false);
    eu.committed(object("a"), 2, false, () -> "", nanos, true);
    assertThat(names()).containsExactly("update");
    assertThat(sink.spans.getFirst().millis()).isEqualTo(20);
  }

  @Test
  void arrival_waitsUntilItIsVisible_andSaysForWhat() {
    Traces traces = traces(US, false);
    UpdateObserver us = traces.partition(POLICY, 0, List.of("ap", "eu"));
    Shipment update = shipment(EU, "a", 0, 9, 1);
    nanos += 500 * MILLI;
    us.arrived(EU, frame(Frame.Kind.OPS, 1_000_000 + 480, update));
    us.waits(update, VersionVector.of(AP, 3));
    nanos += 700 * MILLI;
    us.visible(update);
    assertThat(names()).containsExactly("receive", "wait", "visible");
    assertThat(sink.spans).extracting(Added::millis).containsExactly(20L, 700L, 760L);
    Added wait = sink.spans.get(1);
    assertThat(wait.says(SpanAttributes.WAITS_FOR)).isEqualTo("update 3 of ap");
    assertThat(wait.says(SpanAttributes.HELD_BACK_BY)).containsExactly("ap");
    Added visible = sink.spans.get(2);
    assertThat(visible.says(SpanAttributes.DELAY_MILLIS)).isEqualTo(760); // 40 before it was sent
    assertThat(visible.says(SpanAttributes.LATE)).isFalse();
    assertThat(visible.says(SpanAttributes.KEY)).isNull();
    us.visible(update);
    assertThat(sink.spans).as("once").hasSize(3);
  }

  @Test
  void senderWhoseClockIsAhead_makesNoSpanThatEndsBeforeItBegins() {
    UpdateObserver us = traces(US, false).partition(POLICY, 0, List.of("eu"));
    Shipment update = shipment(EU, "a", 0, 9, 1);
    us.arrived(EU, frame(Frame.Kind.OPS, 9_000_000, update));
    us.visible(update);
    assertThat(sink.spans).extracting(Added::millis).containsExactly(0L, 40L);
  }

  @Test
  void stateThatBringsAnUpdateAlong_showsIt_andTheUpdateItselfIsDropped() {
    UpdateObserver us = traces(US, false).partition(POLICY, 0, List.of("ap", "eu"));
    Shipment early = shipment(EU, "a", 4, 9, 1);
    us.arrived(EU, frame(Frame.Kind.OPS, 1_000_000, early));
    us.waits(early, VersionVector.EMPTY);
    Shipment state = shipment(EU, "a", 0, 12, 0);
    us.brought(EU, List.of(state));
    us.visible(state);
    assertThat(sink.spans.stream().filter(s -> s.name().equals("visible")))
        .extracting(s -> s.says(SpanAttributes.NUMBER))
        .containsExactly(9L, 12L);
    // How old its own update is a state does not say.
    assertThat(sink.spans.stream().filter(s -> s.name().equals("visible")))
        .extracting(s -> s.says(SpanAttributes.DELAY_MILLIS) != null)
        .containsExactly(true, false);
    assertThat(
            sink.spans.stream()
                .filter(s -> s.name().equals("wait"))
                .map(s -> s.says(SpanAttributes.WAITS_FOR)))
        .containsExactly("an earlier update of eu on the object");
    us.known(early);
    assertThat(sink.spans.stream().filter(s -> s.name().equals("visible"))).hasSize(2);
  }

  @Test
  void noted_isTakenWithItsShipment_andTheOldestGoWhenTooManyWait() {
    Traces traces = traces(US, false);
    UpdateObserver us = traces.partition(POLICY, 0, List.of("eu"));
    for (int from = 1; from <= 5_001; from += 1_000) {
      List<TraceNote.Joined> many = new ArrayList<>();
      for (int i = from; i < from + 1_000; i++) {
        many.add(new TraceNote.Joined(2L * i, 2L * i - 1, 7));
      }
      traces.noted(EU, new TraceNote("k", 0, many).encode());
    }
    traces.noted(EU, new TraceNote("k", 7, List.of()).encode()); // there is no such partition
    traces.noted(EU, new TraceNote("other", 0, List.of()).encode());
    us.arrived(EU, frame(Frame.Kind.ROUND, 1_000_000, shipment(EU, "a", 0, 2, 2)));
    us.visible(shipment(EU, "a", 0, 2, 2));
    assertThat(sink.spans.getLast().says(SpanAttributes.NUMBER))
        .as("what was told is lost")
        .isEqualTo(2);
    sink.spans.clear();
    Shipment last = shipment(EU, "b", 0, 12_000, 2);
    us.arrived(EU, frame(Frame.Kind.ROUND, 1_000_000, last));
    us.visible(last);
    assertThat(sink.spans.stream().filter(s -> s.name().equals("visible")))
        .extracting(s -> s.says(SpanAttributes.NUMBER))
        .containsExactly(11_999L, 12_000L);
  }

  /** A peer is away for weeks, and others' updates wait for one that never comes. */
  @Test
  void tooManyUpdates_giveUpTheOldest() {
    Traces traces = traces(EU, false);
    UpdateObserver eu = traces.partition(POLICY, 0, List.of("us"));
    int more = 1_000;
    for (int i = 1; i <= Traces.UPDATES_MAX + more; i++) {
      eu.committed(object("k" + i), i, false, () -> "", nanos, true);
    }
    assertThat(sink.givenUp).isEqualTo(more);
    List<Shipment> all = new ArrayList<>();
    for (int i = 1; i <= Traces.UPDATES_MAX + more; i++) {
      all.add(shipment(EU, "k" + i, 0, i, 1));
    }
    eu.shipped("us", Frame.Kind.CATCH_UP, true, all, nanos);
    assertThat(sink.spans).hasSize(Traces.UPDATES_MAX);
    assertThat(sink.spans.getFirst().says(SpanAttributes.NUMBER)).isEqualTo(more + 1);
    // And now there is room again.
    sink.givenUp = 0;
    for (int i = 1; i <= Traces.UPDATES_MAX; i++) {
      eu.arrived(US, frame(Frame.Kind.OPS, 0, shipment(US, "k" + i, 0, i, 1)));
    }
    assertThat(sink.givenUp).isZero();
    for (int i = 1; i <= Traces.UPDATES_MAX; i++) {
      eu.known(shipment(US, "k" + i, 0, i, 1));
    }
    eu.committed(object("k"), 1_000_000, false, () -> "", nanos, true);
    assertThat(sink.givenUp).isZero();
  }

  @Test
  void fullSink_getsNothing_andPlacesAreGivenBack() {
    Traces traces = traces(EU, false);
    UpdateObserver eu = traces.partition(POLICY, 0, List.of("us"));
    sink.full = true;
    for (int i = 1; i <= 2 * Traces.UPDATES_MAX; i++) {
      eu.committed(object("k"), i, true, () -> "", nanos, false);
      Shipment round = shipment(EU, "k", i - 1, i, 1);
      eu.left(Frame.Kind.ROUND, round, 0);
      eu.shipped("us", Frame.Kind.ROUND, false, List.of(round), nanos);
      Shipment theirs = shipment(US, "k", i - 1, i, 1);
      eu.arrived(US, frame(Frame.Kind.OPS, 0, theirs));
      eu.visible(theirs);
    }
    assertThat(sink.spans).isEmpty();
    assertThat(sink.givenUp).isZero();
  }

  @Test
  void keys_areShownOnlyIfWanted_andNotWhole() {
    for (boolean keys : new boolean[] {false, true}) {
      sink.spans.clear();
      UpdateObserver eu = traces(EU, keys).partition(POLICY, 0, List.of());
      eu.committed(object("x".repeat(200)), 1, false, () -> "", nanos, false);
      String shown = sink.spans.getFirst().says(SpanAttributes.KEY);
      if (keys) {
        assertThat(shown)
            .hasSize(SpanAttributes.KEY_LENGTH_MAX + 1)
            .startsWith("xxx")
            .endsWith("…");
      } else {
        assertThat(shown).isNull();
      }
    }
  }
}
