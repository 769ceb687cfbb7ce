package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
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

final class PeerMessageProperties {
  private static final ReplicaId US = new ReplicaId("us", 3);

  private static Map<PeerMessage, String> golden() {
    Map<PeerMessage, String> golden = new LinkedHashMap<>();
    golden.put(
        new PeerMessage.Hello(9, "c", US, "eu", List.of("k"), 9, 0, List.of()),
        "010109016300027573030265750" + "1016b09");
    golden.put(
        new PeerMessage.Hello(10, "c", US, "eu", List.of("k"), 9, 5, List.of()),
        "01010a016300027573030265750" + "1016b09050000");
    golden.put(
        new PeerMessage.Hello(
            10, "c", new ReplicaId("abcdefghijklmnopqr", 3), "eu", List.of("k"), 9, 5, List.of()),
        "01010a0163"
            + "00106162636465666768696a6b6c6d6e6f7003"
            + "0265750"
            + "1016b0905"
            + "02717200");
    golden.put(new PeerMessage.Welcome(US, Optional.empty(), 0, List.of()), "01020002757303");
    golden.put(
        new PeerMessage.Welcome(US, Optional.of(List.of("k")), 0, List.of()),
        "0102000275730301016b");
    golden.put(new PeerMessage.Welcome(US, Optional.empty(), 5, List.of()), "010900027573030500");
    golden.put(
        new PeerMessage.Welcome(US, Optional.of(List.of("k")), 5, List.of(4L, 3L)),
        "0109000275730305" + "02040301016b");
    golden.put(new PeerMessage.Probe(7), "010a07");
    golden.put(new PeerMessage.Alive(7), "010b07");
    golden.put(new PeerMessage.Refused(ErrorCode.DUPLICATE_DC, "no", 9), "01030d026e6f09");
    golden.put(new PeerMessage.Ping(), "0104");
    golden.put(new PeerMessage.Pong(), "0105");
    golden.put(new PeerMessage.Data(2, 3, new byte[] {7, 8}), "010602030708");
    golden.put(new PeerMessage.Note(new byte[] {7, 8}), "01070708");
    golden.put(new PeerMessage.Ask(new byte[] {7, 8}), "010c0708");
    golden.put(new PeerMessage.Answer(new byte[] {7, 8}), "010d0708");
    golden.put(new PeerMessage.Compressed(new byte[] {7, 8}), "010e0708");
    return golden;
  }

  /** Returns a message's bytes behind the length, which is checked. */
  private static byte[] content(PeerMessage message) {
    ByteBuf frame = PeerMessage.frame(message);
    assertThat(frame.readInt()).isEqualTo(frame.readableBytes());
    return ByteBufUtil.getBytes(frame);
  }

  @Test
  void everyMessage_isReadBack_andKeepsItsForm() {
    golden()
        .forEach(
            (message, hex) -> {
              byte[] bytes = content(message);
              assertThat(HexFormat.of().formatHex(bytes)).as("%s", message).isEqualTo(hex);
              assertThat(PeerMessage.decode(new WireInput(bytes)))
                  .usingRecursiveComparison()
                  .isEqualTo(message);
            });
  }

  /** The additions of a newer version are unknown, but the greeting must be refused by name. */
  @Test
  void greetingOfANewerVersion_isRead_whateverFollows() {
    int newer = PeerVersions.NEWEST + 1;
    byte[] bytes = HexFormat.of().parseHex("010100016300027573030265750" + "1016b09050000ffffff");
    bytes[2] = (byte) newer;
    assertThat(PeerMessage.decode(new WireInput(bytes)))
        .isEqualTo(new PeerMessage.Hello(newer, "c", US, "eu", List.of("k"), 9, 5, List.of()));
  }

  /** Version 3 had no number of the dial. */
  @Test
  void greetingOfAVersionThatIsSpokenNoMore_isRead_whateverFollows() {
    byte[] bytes = HexFormat.of().parseHex("010103016300027573030265750" + "1016b");
    assertThat(PeerMessage.decode(new WireInput(bytes)))
        .isEqualTo(new PeerMessage.Hello(3, "c", US, "eu", List.of("k"), 0, 0, List.of()));
  }

  @Provide
  Arbitrary<PeerMessage> messages() {
    return Arbitraries.of(golden().keySet());
  }

  /** Bytes at some positions are replaced, and some at the end are missing. */
  @Property(tries = 8_000)
  void damagedMessages_areReadOrMalformed_andNothingElse(
      @ForAll("messages") PeerMessage message,
      @ForAll @Size(max = 4) Map<@IntRange(max = 40) Integer, Byte> damage,
      @ForAll @IntRange(max = 20) int missing) {
    byte[] bytes = content(message);
    damage.forEach((at, value) -> bytes[at % bytes.length] = value);
    readOrMalformed(Arrays.copyOf(bytes, Math.max(0, bytes.length - missing)));
  }

  @Property(tries = 4_000)
  void anyBytes_areReadOrMalformed_andNothingElse(@ForAll @Size(max = 40) byte[] bytes) {
    readOrMalformed(bytes);
  }

  private static void readOrMalformed(byte[] bytes) {
    try {
      PeerMessage.decode(new WireInput(bytes));
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
