package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.osier.core.codec.WireInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class FrameReaderTest {
  private static final int FRAME_MAX = 300_000;

  private static class Collector extends FrameReader {
    final List<byte[]> frames = new ArrayList<>();
    int pauseAfter = Integer.MAX_VALUE;
    int ends;
    @Nullable ChannelHandlerContext context;

    int refused;
    int heard;

    Collector() {
      super(FRAME_MAX);
    }

    Collector(ByteBudget budget) {
      super(FRAME_MAX, budget);
    }

    @Override
    protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
      byte first = head.readByte();
      assertThat(head.readBytes(10)).containsOnly(first);
      assertThat(length).isGreaterThan(30);
      refused++;
    }

    @Override
    protected void heard() {
      heard++;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      context = ctx;
    }

    @Override
    protected void frame(ChannelHandlerContext ctx, WireInput content) {
      assertThat(isReading()).isTrue();
      frames.add(content.readBytes(content.remaining()));
      if (frames.size() == pauseAfter) {
        pause();
      }
    }

    @Override
    protected void frames(ChannelHandlerContext ctx) {
      assertThat(isReading()).isFalse();
      ends++;
    }
  }

  private final Collector reader = new Collector();
  private final EmbeddedChannel channel = new EmbeddedChannel(reader);

  private static ByteBuf framed(List<byte[]> contents) {
    ByteBuf all = Unpooled.buffer();
    contents.forEach(c -> all.writeInt(c.length).writeBytes(c));
    return all;
  }

  @Test
  void frames_comeWhole_howeverTheBytesAreCut() {
    long seed = System.nanoTime();
    System.out.println("FrameReaderTest seed " + seed);
    Random random = new Random(seed);
    List<byte[]> sent = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int most = random.nextInt(20) == 0 ? FRAME_MAX : 200;
      byte[] content = new byte[random.nextInt(most + 1)];
      random.nextBytes(content);
      sent.add(content);
    }
    ByteBuf all = framed(sent);
    while (all.isReadable()) {
      int most = random.nextInt(10) == 0 ? 200_000 : 300;
      channel.writeInbound(
          all.readRetainedSlice(Math.min(all.readableBytes(), 1 + random.nextInt(most))));
    }
    assertThat(reader.frames).hasSameSizeAs(sent);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(reader.frames.get(i)).isEqualTo(sent.get(i));
    }
    assertThat(reader.ends).isPositive();
    assertThat(all.refCnt()).isEqualTo(1);
  }

  @Test
  void bytes_areHeard_whateverPartOfAFrameTheyAre_untilTheEnd() {
    ByteBuf all = framed(List.of(new byte[100]));
    channel.writeInbound(all.readRetainedSlice(3));
    channel.writeInbound(all.readRetainedSlice(50));
    assertThat(reader.frames).isEmpty();
    assertThat(reader.heard).isEqualTo(2);
    reader.end();
    channel.writeInbound(all.readRetainedSlice(10));
    assertThat(reader.heard).isEqualTo(2);
    all.release();
  }

  @Test
  void pause_holdsBackWhatHasCome_untilItIsResumed() {
    List<byte[]> sent = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      sent.add(new byte[] {(byte) i});
    }
    reader.pauseAfter = 4;
    channel.writeInbound(framed(sent));
    assertThat(reader.frames).hasSize(4);
    channel.writeInbound(framed(List.of(new byte[] {10})));
    assertThat(reader.frames).hasSize(4);
    reader.resume(java.util.Objects.requireNonNull(reader.context));
    channel.runPendingTasks();
    assertThat(reader.frames).hasSize(11);
    assertThat(reader.frames.getLast()).containsExactly(10);
  }

  /** Otherwise the connection would stay open, and no frame on it would be read. */
  @Test
  void whatIsThrownAfterAPause_isCaughtByTheReader() {
    List<Throwable> caught = new ArrayList<>();
    Collector one =
        new Collector() {
          @Override
          protected void frame(ChannelHandlerContext ctx, WireInput content) {
            super.frame(ctx, content);
            if (frames.size() == 3) {
              throw new AssertionError("as the test wants");
            }
          }

          @Override
          public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            caught.add(cause);
            ctx.close();
          }
        };
    one.pauseAfter = 2;
    EmbeddedChannel at = new EmbeddedChannel(one);
    at.writeInbound(framed(Collections.nCopies(5, new byte[] {1})));
    assertThat(one.frames).hasSize(2);
    one.resume(java.util.Objects.requireNonNull(one.context));
    at.runPendingTasks();
    assertThat(caught)
        .singleElement()
        .satisfies(e -> assertThat(e).hasMessage("as the test wants"));
    assertThat(one.frames).hasSize(3);
    assertThat(at.isOpen()).isFalse();
  }

  @Test
  void lengthOverTheLimit_isRefused_andNothingIsReadAfterIt() {
    for (int length : new int[] {FRAME_MAX + 1, -1, Integer.MIN_VALUE}) {
      Collector one = new Collector();
      EmbeddedChannel at = new EmbeddedChannel(one);
      ByteBuf bad = Unpooled.buffer().writeInt(length).writeBytes(new byte[100]);
      assertThatThrownBy(() -> at.writeInbound(bad)).isInstanceOf(TooLongFrameException.class);
      at.writeInbound(framed(List.of(new byte[] {1})));
      assertThat(one.frames).isEmpty();
    }
  }

  /** Only the frames without room are dropped, whatever the order and the cuts. */
  @Test
  void framesBeyondTheBudget_areRefused_andThoseAroundThemAreRead() {
    ByteBudget budget = new ByteBudget(150_000);
    Random random = new Random(5);
    Collector[] readers = new Collector[4];
    EmbeddedChannel[] channels = new EmbeddedChannel[readers.length];
    ByteBuf[] sent = new ByteBuf[readers.length];
    for (int i = 0; i < readers.length; i++) {
      readers[i] = new Collector(budget);
      channels[i] = new EmbeddedChannel(readers[i]);
      List<byte[]> contents = new ArrayList<>();
      for (int k = 0; k < 40; k++) {
        byte[] content = new byte[k % 3 == 0 ? 120_000 + random.nextInt(100_000) : 30];
        Arrays.fill(content, (byte) k);
        contents.add(content);
      }
      sent[i] = framed(contents);
    }
    while (Arrays.stream(sent).anyMatch(ByteBuf::isReadable)) {
      int i = random.nextInt(readers.length);
      int n = Math.min(sent[i].readableBytes(), 1 + random.nextInt(20_000));
      channels[i].writeInbound(sent[i].readRetainedSlice(n));
      assertThat(budget.taken()).isBetween(0L, budget.max());
    }
    int refused = 0;
    for (Collector one : readers) {
      assertThat(one.frames.size() + one.refused).isEqualTo(40);
      assertThat(one.frames.stream().filter(f -> f.length == 30)).hasSize(26);
      for (byte[] frame : one.frames) {
        assertThat(frame).containsOnly(frame[0]);
      }
      refused += one.refused;
    }
    assertThat(refused).isBetween(1, 55);
    assertThat(budget.taken()).isZero();
  }

  /**
   * A frame that no wait could help has another error: so a frame of the budget's size must be
   * read.
   */
  @Test
  void frameAsLargeAsTheBudget_isReadAndKept_whenNothingElseIsUnderWay() {
    ByteBudget budget = new ByteBudget(200_000);
    List<Boolean> kept = new ArrayList<>();
    Collector one =
        new Collector(budget) {
          @Override
          protected void frame(ChannelHandlerContext ctx, WireInput content) {
            kept.add(content.remaining() < 100 || tryKeep(content.remaining()));
            super.frame(ctx, content);
          }
        };
    EmbeddedChannel at = new EmbeddedChannel(one);
    ByteBuf sent = framed(List.of(new byte[200_000], new byte[10]));
    while (sent.isReadable()) {
      at.writeInbound(sent.readRetainedSlice(Math.min(sent.readableBytes(), 9_000)));
    }
    assertThat(one.refused).isZero();
    assertThat(one.frames).hasSize(2);
    assertThat(kept.getFirst()).isTrue();
    assertThat(budget.taken()).isEqualTo(200_000);
    budget.give(200_000);
  }

  /** Reads that end within the next frame, so that the buffer is never empty. */
  @Test
  void framesThatAreKept_takeNoMoreThanTheBudget_howeverTheyCome() {
    for (int length : new int[] {40_000, 65_300, 65_533, 120_000}) {
      for (int cut : new int[] {5_000, 65_536}) {
        ByteBudget budget = new ByteBudget(350_000);
        List<Integer> kept = new ArrayList<>();
        Collector one =
            new Collector(budget) {
              @Override
              protected void frame(ChannelHandlerContext ctx, WireInput content) {
                int bytes = 512 + content.remaining();
                if (tryKeep(bytes)) {
                  kept.add(bytes);
                }
                super.frame(ctx, content);
              }
            };
        EmbeddedChannel at = new EmbeddedChannel(one);
        ByteBuf sent = framed(Collections.nCopies(20, new byte[length]));
        while (sent.isReadable()) {
          at.writeInbound(sent.readRetainedSlice(Math.min(sent.readableBytes(), cut)));
          assertThat(budget.taken()).isLessThanOrEqualTo(budget.max());
        }
        assertThat(one.frames.size() + one.refused).isEqualTo(20);
        assertThat(kept).hasSizeBetween(2, 350_000 / length);
        kept.forEach(budget::give);
        assertThat(budget.taken()).isZero();
        kept.clear();
        at.writeInbound(framed(List.of(new byte[length])));
        assertThat(kept).as("there is room again").hasSize(1);
      }
    }
  }

  @Test
  void connectionThatEnds_givesItsBytesBack() {
    ByteBudget budget = new ByteBudget(300_000);
    EmbeddedChannel one = new EmbeddedChannel(new Collector(budget));
    for (int i = 0; i < 5; i++) {
      ByteBuf part = i == 0 ? Unpooled.buffer().writeInt(FRAME_MAX) : Unpooled.buffer();
      one.writeInbound(part.writeBytes(new byte[40_000]));
    }
    assertThat(budget.taken()).isPositive();
    one.close();
    assertThat(budget.taken()).isZero();
  }

  @Test
  void largestFrame_isRead() {
    byte[] content = new byte[FRAME_MAX];
    Arrays.fill(content, (byte) 7);
    channel.writeInbound(framed(List.of(content, new byte[0])));
    assertThat(reader.frames.getFirst()).isEqualTo(content);
    assertThat(reader.frames.get(1)).isEmpty();
  }
}
