package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Frames that grow with the number of their objects. */
final class FrameCheckTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final int MAX = 4 * Unit.FRAME_BYTES;

  private static Shipment shipment(int bytes) {
    return shipment("-".repeat(bytes));
  }

  private static Shipment shipment(String value) {
    CrdtState nothing = CrdtState.bottom(CrdtType.LWW_REGISTER);
    return new Shipment(
        new ObjectId(Key.of("r"), CrdtType.LWW_REGISTER),
        EU,
        0,
        VersionVector.EMPTY,
        1,
        1,
        0,
        nothing.prepare(new Operation.Assign(Value.of(value)), EU, 1, 0, 1, 0));
  }

  private static void check(List<Shipment> shipments) {
    Frame frame =
        new Frame.Updates(
            Frame.Kind.OPS, 1, 1, 1, VersionVector.EMPTY, Optional.empty(), false, 0, shipments);
    FrameCheck.check(
        EU, "us", frame, shipments.stream().mapToInt(s -> FrameCodec.sizeOf(EU, s)).sum());
  }

  @Test
  void fewSmallObjects_orOneOfAnySize_areFine() {
    check(Collections.nCopies(MAX / FrameCodec.sizeOf(EU, shipment(100)), shipment(100)));
    check(List.of(shipment(100 * MAX)));
    check(List.of(shipment(100 * MAX), shipment(100), shipment(100)));
  }

  @Test
  void manySmallObjects_areNoticed() {
    int one = FrameCodec.sizeOf(EU, shipment(100));
    List<Shipment> most = Collections.nCopies(MAX / one + 1, shipment(100));
    assertThatCode(() -> check(most)).doesNotThrowAnyException(); // beside its largest
    assertThatThrownBy(() -> check(Collections.nCopies(MAX / one + 2, shipment(100))))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("eu/1 sends us a frame (Updates) of " + (MAX / one + 2) * one)
        .hasMessageEndingWith("of which its largest object has " + one);
  }

  @Test
  void secondLargeObject_isNoticed() {
    assertThatThrownBy(() -> check(List.of(shipment(2 * MAX), shipment(2 * MAX))))
        .isInstanceOf(Violation.class);
  }

  @Test
  void frameWithoutObjects_isNoticedByItsSizeAlone() {
    Frame ack = new Frame.Ack(1, 1);
    FrameCheck.check(EU, "us", ack, MAX);
    assertThatThrownBy(() -> FrameCheck.check(EU, "us", ack, MAX + 1))
        .hasMessageContaining("a frame (Ack) of " + (MAX + 1) + " bytes");
  }

  private static Frame.Updates updates(Frame.Cursor cursor, Shipment... shipments) {
    return new Frame.Updates(
        Frame.Kind.OPS,
        1,
        1,
        1,
        VersionVector.EMPTY,
        Optional.of(cursor),
        false,
        0,
        List.of(shipments));
  }

  /** The transport drops it, each time that it is sent. */
  @Test
  void frameThatCannotBeEncoded_isNoticed() {
    Frame nowhere = updates(new Frame.Cursor(1, 3, 5, -1, Optional.empty()), shipment(10));
    assertThatThrownBy(() -> FrameCheck.print(EU, nowhere))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("eu/1 sends a frame that cannot be encoded");
    assertThatThrownBy(() -> FrameCheck.encoded(EU, new Frame.Ack(-1, 1)))
        .isInstanceOf(Violation.class);
  }

  @Test
  void print_differsWithWhatTheFrameSays() {
    Frame.Cursor cursor = new Frame.Cursor(1, 3, 5, 0, Optional.empty());
    FrameCheck.Print one = FrameCheck.print(EU, updates(cursor, shipment(10))).orElseThrow();
    Frame.Cursor other = new Frame.Cursor(1, 3, 6, 0, Optional.empty());
    assertThat(FrameCheck.print(EU, updates(cursor, shipment(10)))).contains(one);
    assertThat(FrameCheck.print(EU, updates(other, shipment(10))))
        .isPresent()
        .get()
        .isNotEqualTo(one);
    assertThat(FrameCheck.print(EU, updates(cursor, shipment("other-10--"))))
        .isPresent()
        .get()
        .isNotEqualTo(one);
    assertThat(FrameCheck.print(EU, new Frame.Ack(1, 1)))
        .isNotEqualTo(FrameCheck.print(EU, new Frame.Ack(1, 2)));
    assertThat(one.bytes())
        .isCloseTo(FrameCodec.encode(EU, updates(cursor, shipment(10))).length, within(2));
  }
}
