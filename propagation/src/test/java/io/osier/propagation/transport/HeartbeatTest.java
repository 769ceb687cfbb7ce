package io.osier.propagation.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** In the time of the test's own channel. */
final class HeartbeatTest {
  private final Heartbeat heartbeat = Heartbeat.asking();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private boolean dead;

  private void open() {
    channel.freezeTime();
    channel
        .pipeline()
        .addLast(
            heartbeat,
            new ChannelInboundHandlerAdapter() {
              @Override
              public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                dead = true;
              }
            });
    channel.pipeline().fireChannelActive();
  }

  private void pass(long millis) {
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    channel.runPendingTasks();
  }

  private void come() {
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[1]));
    channel.releaseInbound();
  }

  private int signs() {
    int signs = 0;
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      out.release();
      signs++;
    }
    return signs;
  }

  /** How long nothing wakes the loop. */
  private long pauseMillis() {
    return TimeUnit.NANOSECONDS.toMillis(channel.runScheduledPendingTasks());
  }

  @Test
  void signs_areGivenEverySecond_andNothingWakesTheLoopInBetween() {
    open();
    heartbeat.greeted();
    for (int second = 0; second < 10; second++) {
      come();
      assertThat(pauseMillis()).isEqualTo(Heartbeat.SIGN_MILLIS);
      pass(999);
      assertThat(signs()).isZero();
      pass(1);
      assertThat(signs()).isEqualTo(1);
    }
    assertThat(dead).isFalse();
  }

  @Test
  void silence_isDeathInTime_alsoBeforeTheGreeting() {
    open();
    assertThat(pauseMillis()).isEqualTo(Heartbeat.DEAD_MILLIS);
    pass(4_000);
    come();
    pass(4_999);
    assertThat(dead).isFalse();
    pass(1);
    assertThat(dead).isTrue();
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
  }

  @Test
  void greeting_bringsTheNextLookForward() {
    open();
    pass(100);
    heartbeat.greeted();
    pass(1_000);
    assertThat(signs()).isEqualTo(1);
  }

  @Test
  void whoHasWorked_isHeardOfAgainInTime() {
    open();
    heartbeat.busy(true);
    pass(60_000);
    assertThat(dead).isFalse();
    heartbeat.busy(false);
    pass(4_999);
    assertThat(dead).isFalse();
    pass(1);
    assertThat(dead).isTrue();
  }

  @Test
  void closedConnection_isLookedAtNoMore_whateverItWasDoing() {
    open();
    heartbeat.busy(true);
    channel.pipeline().fireChannelInactive();
    heartbeat.busy(false);
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
  }
}
