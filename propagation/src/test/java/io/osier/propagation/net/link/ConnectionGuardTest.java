package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests in the time of a channel of the test's own. */
final class ConnectionGuardTest {
  private static final PortLimits LIMITS = new PortLimits(2, 5_000, 10_000);

  private final PortGuard port = new PortGuard("a port", LIMITS);
  private boolean inFrame;
  private final ConnectionGuard guard = new ConnectionGuard(port, () -> inFrame);
  private final EmbeddedChannel channel = new EmbeddedChannel();

  private void open() {
    channel.freezeTime();
    channel.pipeline().addLast(guard);
    channel.pipeline().fireChannelActive();
  }

  private void greet() {
    open();
    guard.greeted();
  }

  private void pass(long millis) {
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    channel.runPendingTasks();
  }

  private void come(int bytes) {
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[bytes]));
    channel.releaseInbound();
  }

  @Test
  void silentConnection_isClosed_untilItHasGreeted() {
    open();
    pass(4_900);
    assertThat(channel.isOpen()).isTrue();
    pass(200);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void greetedConnection_mayBeSilentBetweenFrames() {
    greet();
    come(10);
    guard.frame();
    pass(3_600_000);
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void halfAFrame_isClosed() {
    greet();
    inFrame = true;
    come(10);
    pass(9_000);
    assertThat(channel.isOpen()).isTrue();
    pass(4_000);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void frameThatTrickles_isClosed() {
    greet();
    inFrame = true;
    for (int i = 0; i < 13 && channel.isOpen(); i++) {
      come(1);
      pass(1_000);
    }
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void slowFrameThatGetsOn_stays_howeverLongItTakes() {
    greet();
    inFrame = true;
    for (int i = 0; i < 1_000; i++) {
      come(2_000);
      pass(1_000);
    }
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void connectionThatIsNotListenedTo_isNotBlamed() {
    greet();
    inFrame = true;
    come(10);
    channel.config().setAutoRead(false);
    pass(60_000);
    assertThat(channel.isOpen()).isTrue();
    channel.config().setAutoRead(true);
    pass(9_000);
    assertThat(channel.isOpen()).isTrue();
    pass(5_000);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void connectionsOverTheLimit_areNotAdmitted_untilOthersClose() {
    EmbeddedChannel second = new EmbeddedChannel();
    EmbeddedChannel third = new EmbeddedChannel();
    assertThat(port.admit(channel)).isTrue();
    assertThat(port.admit(second)).isTrue();
    assertThat(port.admit(third)).isFalse();
    third.close();
    channel.close();
    assertThat(port.admit(new EmbeddedChannel())).isTrue();
    assertThat(port.open()).isEqualTo(2);
  }
}
