package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

final class InputTest {
  private final Input input = new Input();

  private void send(String text) {
    ByteBuf bytes = Unpooled.copiedBuffer(text, US_ASCII);
    assertThat(input.append(bytes)).isTrue();
    bytes.release();
  }

  private int taken() {
    int n = 0;
    while (input.next()) {
      input.words();
      n++;
    }
    input.settle();
    return n;
  }

  @Test
  void buffer_ofAConnectionThatWaits_isSmall_howeverMuchHasCome() {
    send("PING\r\n");
    assertThat(taken()).isEqualTo(1);
    int usual = input.bufferBytes();
    assertThat(usual).isBetween(1, 4_096); // is used again
    send("PING\r\n".repeat(10_000) + "PI");
    assertThat(taken()).isEqualTo(10_000);
    assertThat(input.size()).isEqualTo(2);
    send("NG\r\n");
    assertThat(taken()).isEqualTo(1);
    assertThat(input.bufferBytes()).isLessThanOrEqualTo(4_096);
  }
}
