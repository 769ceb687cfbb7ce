package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class LinkCompressorTest {
  private final LinkTraffic traffic = new LinkTraffic();
  private final LinkCompressor compressor = new LinkCompressor(traffic);
  private final EmbeddedChannel channel = new EmbeddedChannel(compressor);
  private final LinkInflater inflater = new LinkInflater();

  private static PeerMessage.Data data(String text) {
    return new PeerMessage.Data(1, 2, text.getBytes(StandardCharsets.UTF_8));
  }

  private void begin(int bytesPerSecond) {
    channel.freezeTime();
    compressor.begin(bytesPerSecond, now());
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }

  private ChannelFuture write(PeerMessage message) {
    return channel.write(PeerMessage.frame(message));
  }

  private List<PeerMessage> left() {
    channel.flush();
    List<PeerMessage> left = new ArrayList<>();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      while (next.isReadable()) { // some may leave in one piece
        byte[] content = new byte[next.readInt()];
        next.readBytes(content);
        left.add(PeerMessage.decode(new WireInput(content)));
      }
      next.release();
    }
    return left;
  }

  private List<PeerMessage> heard(List<PeerMessage> left) {
    List<PeerMessage> heard = new ArrayList<>();
    for (PeerMessage message : left) {
      if (message instanceof PeerMessage.Compressed compressed) {
        heard.addAll(inflater.messages(compressed));
      } else {
        heard.add(message);
      }
    }
    return heard;
  }

  private static String hex(PeerMessage message) {
    ByteBuf frame = PeerMessage.frame(message);
    return HexFormat.of().formatHex(ByteBufUtil.getBytes(frame));
  }

  private void assertHeard(List<PeerMessage> left, PeerMessage... said) {
    assertThat(heard(left).stream().map(LinkCompressorTest::hex))
        .containsExactlyElementsOf(Arrays.stream(said).map(LinkCompressorTest::hex).toList());
  }

  @Test
  void whatLeavesTogether_isOneBlock_whichRefersToThoseBefore() {
    begin(LinkCompressor.BYTES_PER_SECOND);
    write(data("likes:post-1"));
    write(data("likes:post-2"));
    List<PeerMessage> first = left();
    assertThat(first).hasSize(1).hasOnlyElementsOfType(PeerMessage.Compressed.class);
    write(data("likes:post-1"));
    List<PeerMessage> second = left();
    assertThat(hex(second.getFirst()).length()).isLessThan(hex(data("likes:post-1")).length());
    assertHeard(first, data("likes:post-1"), data("likes:post-2"));
    assertHeard(second, data("likes:post-1"));
    assertThat(traffic.writtenBytes()).isEqualTo(3 * hex(data("likes:post-1")).length() / 2);
    int sent = (hex(first.getFirst()).length() + hex(second.getFirst()).length()) / 2;
    assertThat(traffic.savedBytes()).isEqualTo(traffic.writtenBytes() - sent);
  }

  /** Raw Deflate without the flush's last four bytes; the second block refers to the first. */
  @Test
  void goldenBlocks_areRead() {
    PeerMessage.Data said = data("ABCDE");
    List<PeerMessage> blocks =
        List.of(
            new PeerMessage.Compressed(block("626060e06464636472747276716540e60000")),
            new PeerMessage.Compressed(block("42e10000")));
    assertThat(hex(blocks.getLast())).isEqualTo("00000006" + "010e" + "42e10000");
    assertHeard(blocks, said, said, said);
  }

  private static byte[] block(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  @Test
  void beforeItBegins_andWithNothingASecond_messagesTravelAsTheyAre() {
    write(data("likes:post-1"));
    assertThat(left()).hasOnlyElementsOfType(PeerMessage.Data.class);
    begin(0);
    write(data("likes:post-1"));
    assertThat(left()).hasOnlyElementsOfType(PeerMessage.Data.class);
    assertThat(traffic.savedBytes()).isZero();
  }

  /** The time between two writes may be shorter than a byte takes. */
  @Test
  void writes_closerThanAByteTakes_loseNoTime() {
    begin(1_000);
    PeerMessage.Data message = data("x".repeat(900));
    write(message);
    assertThat(left()).hasOnlyElementsOfType(PeerMessage.Compressed.class);
    int compressed = 0;
    for (int i = 0; i < 2_000; i++) {
      channel.advanceTimeBy(500, TimeUnit.MICROSECONDS);
      write(message);
      compressed += left().getFirst() instanceof PeerMessage.Compressed ? 1 : 0;
    }
    assertThat(compressed).isEqualTo(1);
  }

  @Test
  void moreThanIsCompressedASecond_travelsAsItIs_inItsPlace_untilTimeHasPassed() {
    begin(1_000);
    PeerMessage.Data small = data("x".repeat(400));
    PeerMessage.Data large = data("y".repeat(900));
    write(small);
    write(large);
    write(small);
    write(small);
    List<PeerMessage> left = left();
    assertThat(left.stream().map(m -> m instanceof PeerMessage.Compressed))
        .containsExactly(true, false, true, false);
    assertHeard(left, small, large, small, small);
    channel.advanceTimeBy(500, TimeUnit.MILLISECONDS);
    write(small);
    write(small);
    left = left();
    assertThat(left.stream().map(m -> m instanceof PeerMessage.Compressed))
        .containsExactly(true, false);
    assertHeard(left, small, small);
  }

  @Test
  void whatIsLargerThanABlock_travelsAsItIs_andABlockIsNoLarger() {
    begin(1 << 30);
    PeerMessage.Data large = data("y".repeat(LinkCompressor.BLOCK_BYTES_MAX));
    PeerMessage.Data half = data("z".repeat(LinkCompressor.BLOCK_BYTES_MAX * 2 / 3));
    write(large);
    write(half);
    write(half);
    List<PeerMessage> left = left();
    assertThat(left.stream().map(m -> m instanceof PeerMessage.Compressed))
        .containsExactly(false, true, true);
    assertHeard(left, large, half, half);
  }

  @Test
  void ping_staysAsItIs_andWhatFollowsIsRead() {
    begin(LinkCompressor.BYTES_PER_SECOND);
    write(data("likes:post-1"));
    List<PeerMessage> left = new ArrayList<>(left());
    write(new PeerMessage.Ping());
    left.addAll(left());
    write(data("likes:post-1"));
    left.addAll(left());
    assertThat(left.get(1)).isEqualTo(new PeerMessage.Ping());
    assertHeard(left, data("likes:post-1"), new PeerMessage.Ping(), data("likes:post-1"));
  }

  @Test
  void writers_hearWhenItHasLeft_andThatItNeverWill() {
    begin(LinkCompressor.BYTES_PER_SECOND);
    ChannelFuture first = write(data("likes:post-1"));
    assertThat(first.isDone()).isFalse();
    left();
    assertThat(first.isSuccess()).isTrue();
    ChannelFuture second = write(data("likes:post-2"));
    channel.close();
    assertThat(second.isDone()).isTrue();
    assertThat(second.isSuccess()).isFalse();
    assertThat(write(data("likes:post-3")).isSuccess()).isFalse();
  }

  @Property(tries = 100)
  void whateverIsSaid_isHeardInItsOrder(@ForAll long seed) {
    new LinkCompressorTest().assertHeardInItsOrder(new Random(seed));
  }

  private void assertHeardInItsOrder(Random random) {
    begin(1 + random.nextInt(50_000));
    List<PeerMessage> said = new ArrayList<>();
    List<PeerMessage> left = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? 3_000 : 60)];
      if (random.nextBoolean()) {
        random.nextBytes(bytes);
      }
      PeerMessage message =
          random.nextInt(20) == 0 ? new PeerMessage.Ping() : new PeerMessage.Data(3, 1, bytes);
      said.add(message);
      write(message);
      channel.advanceTimeBy(random.nextInt(20), TimeUnit.MILLISECONDS);
      if (random.nextInt(3) == 0) {
        left.addAll(left());
      }
    }
    left.addAll(left());
    assertHeard(left, said.toArray(PeerMessage[]::new));
    channel.close();
  }

  @Test
  void whatIsNoBlock_isMalformed() {
    byte[] zeros = new byte[LinkCompressor.BLOCK_BYTES_MAX + 1];
    begin(1 << 30);
    for (byte[] block :
        List.of(
            new byte[] {7, 8, 9, 10},
            deflated(zeros), // inflates to more than a block may have
            deflated(new byte[] {0, 0, 0}), // an incomplete length
            deflated(new byte[] {0, 0, 0, 9, 1, 4}), // an incomplete message
            deflated(HexFormat.of().parseHex("00000003" + "010e07")), // a block
            deflated(new byte[] {-1, -1, -1, -1, 1, 4}))) {
      assertThatThrownBy(() -> new LinkInflater().messages(new PeerMessage.Compressed(block)))
          .isInstanceOf(MalformedException.class);
    }
  }

  private static byte[] deflated(byte[] bytes) {
    Deflater deflater = new Deflater(1, true);
    deflater.setInput(bytes);
    byte[] out = new byte[bytes.length + 64];
    int length = deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
    deflater.end();
    return Arrays.copyOf(out, length - LinkCompressor.TAIL.length);
  }

  @Property(tries = 2_000)
  void damagedBlocks_areReadOrMalformed_andNothingElse(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] block = deflated(HexFormat.of().parseHex("0000000201040000000b0106020301020304050607"));
    for (int i = random.nextInt(4); i >= 0; i--) {
      block[random.nextInt(block.length)] = (byte) random.nextInt();
    }
    try {
      new LinkInflater().messages(new PeerMessage.Compressed(block));
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
