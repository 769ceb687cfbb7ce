package io.osier.bench.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A person cuts links of a running emulator; what is wrong is answered in words. */
@Timeout(300)
final class WanControlTest {
  private static final WanQuality NEAR = new WanQuality(0, 0, 0);

  private ServerSocket us;
  private WanEmulator wan;
  private WanControl control;

  @BeforeEach
  void open() throws IOException {
    us = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    wan = new WanEmulator(1, "127.0.0.1");
    // A name, as in a network of containers.
    InetSocketAddress target = InetSocketAddress.createUnresolved("localhost", us.getLocalPort());
    wan.open("eu-us", 0, target, NEAR, NEAR);
    control = new WanControl(wan, 0);
  }

  @AfterEach
  void close() throws IOException {
    control.close();
    wan.close();
    us.close();
  }

  private String tell(String line) throws IOException {
    return WanControl.tell(control.port(), line);
  }

  @Test
  void aCutLink_carriesNothing_untilItIsHealed() throws IOException {
    try (Socket eu = new Socket("127.0.0.1", wan.link("eu-us").port());
        Socket there = us.accept()) {
      assertThat(tell("cut eu us")).isEqualTo("eu - us is cut");
      eu.getOutputStream().write(7);
      there.setSoTimeout(300);
      InputStream in = there.getInputStream();
      assertThatThrownBy(in::read).isInstanceOf(java.net.SocketTimeoutException.class);
      assertThat(tell("heal us eu")).isEqualTo("us - eu is healed"); // the order is the person's
      there.setSoTimeout(120_000);
      assertThat(in.read()).isEqualTo(7);
      assertThat(tell("links")).isEqualTo("eu-us: 1 bytes there, 0 back");
    }
  }

  @Test
  void wrongWords_areAnswered_andTheNextOnesServed() throws IOException {
    assertThat(tell("cut eu")).startsWith("error: say 'links'");
    assertThat(tell("cut eu mars")).startsWith("error: there is no link 'eu-mars'");
    assertThat(tell("x".repeat(10_000))).startsWith("error");
    assertThat(tell("links")).startsWith("eu-us");
  }

  @Test
  void aLink_isReadAsPeopleWriteIt() {
    WanCommand.open(wan, "us-eu=0:us.example:7401");
    WanCommand.open(wan, "a-b=0:c:2/0.5");
    assertThat(wan.names()).containsExactlyInAnyOrder("eu-us", "us-eu", "a-b");
    for (String wrong : List.of("eu-us", "c-d=1:c:2", "c-d=1:c:70000/1")) {
      assertThatThrownBy(() -> WanCommand.open(wan, wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
