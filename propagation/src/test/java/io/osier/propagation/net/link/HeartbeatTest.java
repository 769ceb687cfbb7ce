package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests in the time of a channel of the test's own. */
final class HeartbeatTest {
  private final Heartbeat asking = Heartbeat.asking();
  private final Heartbeat answering = Heartbeat.answering();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private boolean dead;

  private void open(Heartbeat heartbeat) {
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

  /** Returns how long the loop is not woken. */
  private long pauseMillis() {
    return TimeUnit.NANOSECONDS.toMillis(channel.runScheduledPendingTasks());
  }

  @Test
  void signs_areGivenEveryInterval_andNothingWakesTheLoopInBetween() {
    open(asking);
    asking.greeted();
    for (int i = 0; i < 10; i++) {
      come();
      assertThat(pauseMillis()).isEqualTo(Heartbeat.SIGN_MILLIS);
      pass(Heartbeat.SIGN_MILLIS - 1);
      assertThat(signs()).isZero();
      pass(1);
      assertThat(signs()).isEqualTo(1);
    }
    assertThat(dead).isFalse();
  }

  /** Statuses at rest come every two seconds. */
  @Test
  void whoWritesAtRest_givesNoOtherSign_andIsNotWokenMoreOften() {
    open(asking);
    asking.greeted();
    int wakes = 0;
    for (int i = 0; i < 10; i++) {
      channel.writeOutbound(Unpooled.wrappedBuffer(new byte[1]));
      come();
      for (int left = 2_000; left > 0; ) {
        int step = (int) Math.min(left, Math.max(1, pauseMillis()));
        wakes += step < left ? 1 : 0;
        pass(step);
        left -= step;
      }
    }
    assertThat(signs()).as("what was written").isEqualTo(10);
    assertThat(wakes).isZero();
  }

  @Test
  void whatComesAtRest_isAnsweredInItsTurn_andOnce() {
    open(answering);
    answering.greeted();
    for (int i = 0; i < 10; i++) {
      pass(2_000);
      assertThat(signs()).isZero();
      come();
      assertThat(signs()).isEqualTo(1);
      come();
    }
    pass(Heartbeat.SIGN_MILLIS);
    assertThat(signs()).isEqualTo(1);
  }

  @Test
  void flow_isAnsweredInEveryInterval() {
    open(answering);
    answering.greeted();
    for (int i = 0; i < 100; i++) {
      pass(100);
      come();
    }
    assertThat(signs()).isBetween(5, 10);
  }

  @Test
  void silence_isDeathInTime_alsoBeforeTheGreeting() {
    open(asking);
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
    open(asking);
    pass(100);
    asking.greeted();
    pass(Heartbeat.SIGN_MILLIS);
    assertThat(signs()).isEqualTo(1);
  }

  @Test
  void whoHasWorked_isHeardOfAgainInTime() {
    open(asking);
    asking.busy(true);
    pass(60_000);
    assertThat(dead).isFalse();
    asking.busy(false);
    pass(4_999);
    assertThat(dead).isFalse();
    pass(1);
    assertThat(dead).isTrue();
  }

  @Test
  void closedConnection_isLookedAtNoMore_whateverItWasDoing() {
    open(asking);
    asking.busy(true);
    channel.pipeline().fireChannelInactive();
    asking.busy(false);
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
  }
}
