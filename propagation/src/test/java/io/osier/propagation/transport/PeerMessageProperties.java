package io.osier.propagation.transport;

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
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class PeerMessageProperties {
  private static final ReplicaId US = new ReplicaId("us", 3);

  private static Map<PeerMessage, String> golden() {
    Map<PeerMessage, String> golden = new LinkedHashMap<>();
    golden.put(
        new PeerMessage.Hello(1, "c", US, "eu", List.of("k")),
        "010101016300027573030265750" + "1016b");
    golden.put(new PeerMessage.Welcome(US, Optional.empty()), "01020002757303");
    golden.put(new PeerMessage.Welcome(US, Optional.of(List.of("k"))), "0102000275730301016b");
    golden.put(new PeerMessage.Refused(ErrorCode.DUPLICATE_DC, "no", 9), "01030d026e6f09");
    golden.put(new PeerMessage.Ping(), "0104");
    golden.put(new PeerMessage.Pong(), "0105");
    golden.put(new PeerMessage.Data(2, 3, new byte[] {7, 8}), "010602030708");
    return golden;
  }

  /** A message's bytes behind the length, which is checked. */
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

  @Property(tries = 10_000)
  void hostileBytes_areMalformedAndNothingElse(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    if (random.nextInt(4) > 0) {
      PeerMessage[] messages = golden().keySet().toArray(new PeerMessage[0]);
      bytes = content(messages[random.nextInt(messages.length)]);
      for (int i = 0; i <= random.nextInt(4); i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 3));
    }
    try {
      PeerMessage.decode(new WireInput(bytes));
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
