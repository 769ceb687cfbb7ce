package io.osier.propagation.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Types whose numbers do not fit beside the flags of a shipment. */
final class LaterTypesWireTest {
  private static final ReplicaId EU = new ReplicaId("eu", 7);

  private static Frame frame(CrdtType type, boolean expires) {
    Operation assign = new Operation.Assign(Value.of(5));
    Operation operation =
        expires ? new Operation.WithDeadline(assign, new Operation.Expire(9, false)) : assign;
    CrdtState delta = CrdtState.bottom(type).prepare(operation, EU, 2, 0, 1_000, 0);
    return updates(delta);
  }

  private static Frame updates(CrdtState delta) {
    ObjectId object = new ObjectId(Key.of("k"), delta.type());
    long last = delta.context().last(EU);
    return Frames.updates(
        Frame.Kind.OPS,
        1,
        1,
        last,
        Optional.empty(),
        0,
        List.of(new Shipment(object, EU, 0, VersionVector.EMPTY, last, 1, 0, delta)));
  }

  /** The type is 14 beside the flags, or 15 there and its number behind them. */
  @ParameterizedTest
  @CsvSource({
    "STRING, false, 6b0e02",
    "MIN_REGISTER, false, 6b0f0f02",
    "MAX_REGISTER, false, 6b0f1002",
    "MAX_REGISTER, true, 6b1f1003"
  })
  void shipment_hasItsTypesNumber(CrdtType type, boolean expires, String hex) {
    Frame frame = frame(type, expires);
    byte[] bytes = FrameCodec.encode(EU, frame);
    assertThat(HexFormat.of().formatHex(bytes)).contains(hex);
    assertThat(FrameCodec.decode(EU, bytes)).isEqualTo(frame);
  }

  @Test
  void typeOfTheFuture_isRefusedByItsNumber_asIsOneThatStandsInAnothersPlace() {
    byte[] bytes = FrameCodec.encode(EU, frame(CrdtType.MAX_REGISTER, false));
    int at = HexFormat.of().formatHex(bytes).indexOf("0f1002") / 2 + 1;
    bytes[at] = 40;
    assertThatThrownBy(() -> FrameCodec.decode(EU, bytes))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("type number 40 is unknown");
    bytes[at] = 3;
    assertThatThrownBy(() -> FrameCodec.decode(EU, bytes))
        .hasMessageContaining("type number 3 stands behind its place");
  }

  @Test
  void fieldOfATypeOfTheFuture_isRefusedByItsNumber() {
    CrdtState delta =
        CrdtState.bottom(CrdtType.OR_MAP)
            .prepare(
                new Operation.UpdateFields(
                    new FieldId("f", CrdtType.MAX_REGISTER), new Operation.Assign(Value.of(5))),
                EU,
                2,
                0,
                1_000,
                0);
    byte[] bytes = FrameCodec.encode(EU, updates(delta));
    assertThat(FrameCodec.decode(EU, bytes)).isEqualTo(updates(delta));
    int at = HexFormat.of().formatHex(bytes).indexOf("016610") / 2 + 2;
    bytes[at] = 40;
    assertThatThrownBy(() -> FrameCodec.decode(EU, bytes))
        .hasMessageContaining("type number 40 is unknown");
  }
}
