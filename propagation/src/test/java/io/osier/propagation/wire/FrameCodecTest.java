package io.osier.propagation.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.CausalContext;
import io.osier.core.HolderTerms;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FrameCodecTest {
  private static final ReplicaId EU = new ReplicaId("eu", 7);
  private static final ReplicaId US = new ReplicaId("us", 3);

  private static Shipment shipment() {
    return shipment(EU);
  }

  private static Shipment shipment(ReplicaId origin) {
    CrdtState delta =
        CrdtState.bottom(CrdtType.AW_SET)
            .prepare(new Operation.Add(Value.of("x")), origin, 12, 9, 1_000, 0);
    return new Shipment(
        new ObjectId(Key.of("k"), CrdtType.AW_SET),
        origin,
        9,
        VersionVector.of(US, 4),
        12,
        1,
        20,
        delta);
  }

  private static Shipment state() {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState state = bottom.join(bottom.prepare(new Operation.Increment(5), US, 4, 0, 1_000, 0));
    return new Shipment(
        new ObjectId(Key.of("n"), CrdtType.PN_COUNTER), US, 0, VersionVector.EMPTY, 4, 0, 0, state);
  }

  private static Map<Frame, String> golden() {
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.AW_SET);
    Map<Frame, String> golden = new LinkedHashMap<>();
    golden.put(
        new Frame.Updates(
            Frame.Kind.ROUND,
            2,
            3,
            12,
            VersionVector.EMPTY,
            Optional.of(new Frame.Cursor(1, 5, 8, 3, Optional.empty())),
            true,
            1_000,
            List.of(shipment())),
        "01010502030c0105010303e80701016b880c0301000275730304011401010109030101017801010c");
    golden.put(
        new Frame.Updates(
            Frame.Kind.OPS,
            2,
            3,
            12,
            VersionVector.of(US, 7),
            Optional.empty(),
            false,
            1_000,
            List.of()),
        "01010802030c01000275730307" + "00e80700");
    golden.put(new Frame.Ack(2, 3), "01020203");
    golden.put(
        new Frame.Resume(4, 9, Optional.of(new Frame.Cursor(2, 5, 5, 0, Optional.of(object)))),
        "010304090205016b08020000");
    golden.put(
        new Frame.Status(
            true, 2, 3, VersionVector.of(EU, 5), 7, VersionVector.of(US, 6), 9, true, 1_000),
        "010401020301010507010002757303060901e807");
    golden.put(
        new Frame.Heal(
            3,
            US,
            4,
            CausalContext.range(US, 5, 6),
            new Frame.Page(new Frame.Place(7, 6), Optional.empty())),
        "010503000275730304" + "0102010501" + "070600");
    golden.put(new Frame.Fetch(3, List.of(object)), "01060301016b08");
    golden.put(
        new Frame.Verify(3, List.of(new Frame.Known(object, VersionVector.of(US, 6)))),
        "01080301016b0801000275730306");
    golden.put(
        new Frame.Verified(3, object, List.of(state()), VersionVector.of(US, 7)),
        "010903016b0801016e610002757303040400000102010004010104050000010207");
    golden.put(
        new Frame.States(
            3,
            Optional.of(US),
            Optional.of(new Frame.Page(new Frame.Place(7, 6), Optional.of(object))),
            4,
            new Frame.Place(7, 8),
            VersionVector.of(US, 7),
            List.of(state())),
        "01070301000275730301070601016b0804070801020701016e6102040400000102010004010104050000");
    golden.put(
        new Frame.Offer(2, 3, object, EntryRanges.Head.of(CausalContext.range(US, 5, 6))),
        "010b0203016b08010002757303010501");
    golden.put(
        new Frame.Offer(2, 3, object, mortal()),
        "010f0203016b080100027573030100060f00010105b81701010178010106d00f");
    golden.put(
        new Frame.StatesAndOffer(noStates(), new Frame.Offer(0, 512, object, mortal())),
        "011003000000000000000f008004016b080100027573030100060f00010105b81701010178010106d00f");
    golden.put(new Frame.Withdrawn(512), "01118004");
    EntryKey key = new EntryKey(new byte[] {1, 'x'});
    golden.put(
        new Frame.Pull(2, 3, object, false, key, List.of(1, 2, 7)),
        "010c0203016b080002017803010004");
    golden.put(
        new Frame.Ranges(
            2,
            3,
            object,
            EntryKey.NONE,
            List.of(
                new EntryRanges.Range(key, 1, -1), new EntryRanges.Range(EntryKey.NONE, 2, -2))),
        "010d0203016b0800020201780100000000000000ffffffffffffffff000200000000000000feffffffffffffff");
    golden.put(
        new Frame.Entries(2, 3, key, List.of(0), entries()),
        "010e02030201780100016b2804040000010101000401010178010104");
    return golden;
  }

  private static Frame.States noStates() {
    return new Frame.States(
        3, Optional.empty(), Optional.empty(), 0, Frame.Place.NONE, VersionVector.EMPTY, List.of());
  }

  /** Returns the head of a set that has a deadline, and an element with one. */
  private static EntryRanges.Head mortal() {
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of("x")));
    CrdtState set = bottom.join(bottom.prepare(add, US, 4, 0, 1_000, 0));
    Operation whole = new Operation.Expire(3_000, false);
    set = set.join(set.prepare(whole, US, 5, 4, 1_000, 0));
    Operation part =
        new Operation.ExpireParts(
            List.of(new Part.Element(Value.of("x"))), new Operation.Expire(2_000, false));
    return EntryRanges.Head.of(set.join(set.prepare(part, US, 6, 5, 1_000, 0)));
  }

  private static Shipment entries() {
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of("x")));
    CrdtState set = bottom.join(bottom.prepare(add, EU, 4, 0, 1_000, 0));
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.AW_SET);
    return new Shipment(object, EU, 0, VersionVector.EMPTY, 4, 0, 0, set);
  }

  /** Bytes that are no page of ranges of such an object never reach a partition. */
  @Test
  void rangesThatAreNone_areMalformed() {
    ObjectId set = new ObjectId(Key.of("k"), CrdtType.AW_SET);
    ObjectId counter = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);
    EntryRanges.Range b = new EntryRanges.Range(new EntryKey(new byte[] {1, 'b'}), 1, 2);
    EntryRanges.Range a = new EntryRanges.Range(new EntryKey(new byte[] {1, 'a'}), 1, 2);
    EntryRanges.Range last = new EntryRanges.Range(EntryKey.NONE, 1, 2);
    EntryKey none = new EntryKey(new byte[] {9});
    List<Frame> wrong =
        List.of(
            new Frame.Ranges(1, 1, set, EntryKey.NONE, List.of()),
            new Frame.Ranges(1, 1, set, EntryKey.NONE, List.of(b, a)),
            new Frame.Ranges(1, 1, set, EntryKey.NONE, List.of(a, a)),
            new Frame.Ranges(1, 1, set, b.last(), List.of(a, last)),
            new Frame.Ranges(1, 1, set, EntryKey.NONE, List.of(last, a)),
            new Frame.Ranges(1, 1, set, none, List.of(last)),
            new Frame.Ranges(1, 1, counter, EntryKey.NONE, List.of(last)),
            new Frame.Pull(1, 1, set, false, none, List.of()),
            new Frame.Offer(1, 1, counter, EntryRanges.Head.of(CausalContext.EMPTY)),
            new Frame.Offer(1, 1, counter, mortal()),
            new Frame.StatesAndOffer(noStates(), new Frame.Offer(1, 512, set, mortal())),
            new Frame.Offer(
                1, 1, set, new EntryRanges.Head(CausalContext.range(US, 0, 6), new byte[] {7})),
            new Frame.Entries(1, 1, EntryKey.NONE, List.of(0), state()),
            new Frame.Entries(1, 1, EntryKey.NONE, List.of(0), shipment()));
    for (Frame frame : wrong) {
      byte[] bytes = FrameCodec.encode(EU, frame);
      assertThatThrownBy(() -> FrameCodec.decode(EU, bytes))
          .as("%s", frame)
          .isInstanceOf(MalformedException.class);
    }
  }

  private static void isMalformed(String hex) {
    assertThatThrownBy(() -> FrameCodec.decode(EU, HexFormat.of().parseHex(hex)))
        .as(hex)
        .isInstanceOf(MalformedException.class);
  }

  /** Counts of shipments, of replicas in a context, of objects: no memory is reserved for them. */
  @Test
  void countThatTheBytesCannotHold_isMalformed() {
    String many = "ffffffff07";
    isMalformed("01010802030c01000275730307" + "00e807" + many);
    isMalformed(
        "010903016b0801016e6100027573030404" + "0000" + many + "02010004010104050000010207");
    isMalformed("010603" + many + "016b08");
  }

  @Test
  void placeThatIsNone_isMalformed() {
    String resume = "01030409";
    String cursor = "0502" + "00" + "00";
    assertThat(FrameCodec.decode(EU, HexFormat.of().parseHex(resume + "01" + cursor)))
        .isEqualTo(
            new Frame.Resume(4, 9, Optional.of(new Frame.Cursor(2, 5, 5, 0, Optional.empty()))));
    isMalformed(resume + "03" + cursor);
    isMalformed(resume + "01" + "0502" + "ffffffffffffffff7f" + "00"); // done overflows
    isMalformed("010c0203016b0800020178" + "01" + "ffffffff0f"); // range 2^32 - 1
  }

  @Test
  void shipmentThatIsNone_isMalformed() {
    String before = "010903016b0801016e610002757303";
    String behind = "000102010004010104050000010207";
    String right = before + "0404" + "00" + behind;
    assertThat(FrameCodec.decode(EU, HexFormat.of().parseHex(right))).isIn(golden().keySet());
    isMalformed(before + "0405" + "00" + behind); // begins before the first update
    isMalformed(before + "0404" + "8080808008" + behind); // 2^31 updates
  }

  @Test
  void everyFrame_isReadBack_andKeepsItsForm() {
    golden()
        .forEach(
            (frame, hex) -> {
              byte[] bytes = FrameCodec.encode(EU, frame);
              assertThat(FrameCodec.decode(EU, bytes)).isEqualTo(frame);
              assertThat(HexFormat.of().formatHex(bytes)).as("form of %s", frame).isEqualTo(hex);
            });
  }

  @Test
  void shipmentWithADeadline_keepsIt() {
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(List.of(Value.of("x")));
    Operation both = new Operation.WithDeadline(add, new Operation.Expire(3_000, false));
    CrdtState delta = bottom.prepare(both, EU, 1, 0, 1_000, 0);
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.AW_SET);
    Shipment shipment = new Shipment(object, EU, 0, VersionVector.EMPTY, 2, 1, 0, delta);
    Frame frame = new Frame.Verified(3, object, List.of(shipment), VersionVector.EMPTY);
    assertThat(FrameCodec.decode(EU, FrameCodec.encode(EU, frame))).isEqualTo(frame);
    assertThat(delta.deadline()).isEqualTo(3_000);
  }

  /** Even for a holder that was added again: the frame is the datacenter's. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void sizeOf_isWhatAShipmentAddsToAFrame(int term) {
    ReplicaId holder = HolderTerms.in(EU, Map.of(EU.dc(), term));
    Frame.Updates empty =
        new Frame.Updates(
            Frame.Kind.OPS, 1, 1, 1, VersionVector.EMPTY, Optional.empty(), false, 1, List.of());
    Frame.Updates one =
        new Frame.Updates(
            Frame.Kind.OPS,
            1,
            1,
            1,
            VersionVector.EMPTY,
            Optional.empty(),
            false,
            1,
            List.of(shipment(holder)));
    assertThat(FrameCodec.sizeOf(holder, shipment(holder)))
        .isEqualTo(FrameCodec.encode(EU, one).length - FrameCodec.encode(EU, empty).length);
  }

  @Provide
  Arbitrary<Frame> frames() {
    return Arbitraries.of(golden().keySet());
  }

  /** Bytes at some positions are replaced, and some at the end are missing. */
  @Property(tries = 7_000)
  void damagedFrames_areReadOrMalformed_andNothingElse(
      @ForAll("frames") Frame frame,
      @ForAll @Size(max = 4) Map<@IntRange(max = 60) Integer, Byte> damage,
      @ForAll @IntRange(max = 30) int missing) {
    byte[] bytes = FrameCodec.encode(EU, frame);
    damage.forEach((at, value) -> bytes[at % bytes.length] = value);
    readOrMalformed(Arrays.copyOf(bytes, Math.max(0, bytes.length - missing)));
  }

  @Property(tries = 4_000)
  void anyBytes_areReadOrMalformed_andNothingElse(@ForAll @Size(max = 60) byte[] bytes) {
    readOrMalformed(bytes);
  }

  private static void readOrMalformed(byte[] bytes) {
    try {
      FrameCodec.decode(EU, bytes);
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
