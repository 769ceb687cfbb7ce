package io.osier.bench.wan;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The pipe in frozen time: two embedded channels and a clock that the test moves. */
final class WanPipeTest {
  private static final int HELD_MAX = 8;

  private final MockTicker clock = Ticker.newMockTicker();
  private final WanDirection forth = new WanDirection(new WanQuality(40, 0, 0), 1);
  private final WanDirection back = new WanDirection(new WanQuality(10, 0, 0), 2);
  private EmbeddedChannel client;
  private EmbeddedChannel target;
  private WanPipe there;
  private long delivered;
  private int closings;

  @BeforeEach
  void connect() {
    client = channel();
    target = channel();
    there = pipe(forth, client, target);
    WanPipe here = pipe(back, target, client);
    there.setOpposite(here);
    here.setOpposite(there);
    client.pipeline().addLast(there);
    target.pipeline().addLast(here);
  }

  @AfterEach
  void close() {
    client.finishAndReleaseAll();
    target.finishAndReleaseAll();
  }

  private EmbeddedChannel channel() {
    return EmbeddedChannel.builder().ticker(clock).build();
  }

  private WanPipe pipe(WanDirection way, EmbeddedChannel from, EmbeddedChannel to) {
    return new WanPipe(
        new WanQueue<>(way, HELD_MAX), from, to, n -> delivered += n, () -> closings++);
  }

  private void pass(long millis) {
    clock.advance(millis, TimeUnit.MILLISECONDS);
    client.runScheduledPendingTasks();
    target.runScheduledPendingTasks();
    client.runPendingTasks();
    target.runPendingTasks();
  }

  private static ByteBuf bytes(int count) {
    return Unpooled.buffer(count).writeZero(count);
  }

  /** How many bytes have come out of a channel since the last question. */
  private static int arrived(EmbeddedChannel channel) {
    int count = 0;
    for (ByteBuf b = channel.readOutbound(); b != null; b = channel.readOutbound()) {
      count += b.readableBytes();
      b.release();
    }
    return count;
  }

  @Test
  void eachDirection_hasItsOwnDelay() {
    client.writeInbound(bytes(3));
    target.writeInbound(bytes(2));
    pass(9);
    assertThat(arrived(client)).isZero();
    pass(1);
    assertThat(arrived(client)).isEqualTo(2);
    pass(29);
    assertThat(arrived(target)).isZero();
    pass(1);
    assertThat(arrived(target)).isEqualTo(3);
    assertThat(delivered).isEqualTo(5);
  }

  /** Asks are made by every run of the delivery, so they show timers that pile up. */
  @Test
  void steadyTraffic_doesNotPileUpTimers() {
    int[] asks = new int[1];
    EmbeddedChannel reader =
        new EmbeddedChannel() {
          @Override
          public boolean isWritable() {
            asks[0]++;
            return super.isWritable();
          }
        };
    EmbeddedChannel writer = channel();
    WanPipe pipe = pipe(forth, writer, reader);
    pipe.setOpposite(pipe(back, reader, writer));
    writer.pipeline().addLast(pipe);
    for (int i = 0; i < 1_000; i++) {
      writer.writeInbound(bytes(1));
      clock.advance(1, TimeUnit.MILLISECONDS);
      writer.runScheduledPendingTasks();
    }
    assertThat(arrived(reader)).isEqualTo(961); // all but those of the last 39 ms
    assertThat(asks[0]).isLessThan(5 * 1_000);
    writer.finishAndReleaseAll();
    reader.finishAndReleaseAll();
  }

  @Test
  void cutDirection_holds_andTheOtherGoesOn() {
    forth.cut();
    client.writeInbound(bytes(3));
    target.writeInbound(bytes(2));
    pass(5_000);
    assertThat(arrived(target)).isZero();
    assertThat(arrived(client)).isEqualTo(2);
    forth.heal(client.eventLoop().ticker().nanoTime());
    there.restart();
    pass(39);
    assertThat(arrived(target)).isZero();
    pass(1);
    assertThat(arrived(target)).isEqualTo(3);
  }

  @Test
  void closeDuringACut_arrivesAfterTheHeal_behindTheBytes() {
    forth.cut();
    client.writeInbound(bytes(3));
    client.close();
    pass(5_000);
    assertThat(target.isActive()).isTrue();
    assertThat(arrived(target)).isZero();
    forth.heal(client.eventLoop().ticker().nanoTime());
    there.restart();
    pass(40);
    assertThat(arrived(target)).isEqualTo(3);
    assertThat(target.isActive()).isFalse();
    assertThat(closings).isEqualTo(1);
  }

  @Test
  void fullDirection_readsNoMoreUntilHalfIsDelivered() {
    client.writeInbound(bytes(HELD_MAX));
    assertThat(client.config().isAutoRead()).isFalse();
    pass(39);
    assertThat(client.config().isAutoRead()).isFalse();
    pass(1);
    assertThat(client.config().isAutoRead()).isTrue();
  }

  @Test
  void slowReader_stopsDeliveryAndThenTheSender() {
    target.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
    target.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    client.writeInbound(bytes(HELD_MAX));
    pass(1_000);
    assertThat(arrived(target)).isZero();
    assertThat(client.config().isAutoRead()).isFalse();
    target.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    pass(0);
    assertThat(arrived(target)).isEqualTo(HELD_MAX);
    assertThat(client.config().isAutoRead()).isTrue();
  }
}
