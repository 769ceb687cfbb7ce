package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.codec.WireOutput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

final class OutgoingTest {
  private static final byte[] UNWANTED = {};

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final List<byte[]> failed = new ArrayList<>();

  /** The messages that the handler of {@link #UNWANTED} adds, one at each failure. */
  private final Queue<String> added = new ArrayDeque<>();

  private boolean soon;
  private boolean open = true;

  private final Outgoing<byte[]> outgoing =
      new Outgoing<>(channel) {
        @Override
        protected boolean write(WireOutput to, byte[] message) {
          if (message == UNWANTED && !added.isEmpty()) {
            add(bytes(added.remove()));
          }
          to.writeBytes(message);
          return message != UNWANTED;
        }

        @Override
        protected void failed(byte[] message, RuntimeException cause) {
          assertThat(cause).isInstanceOf(KryoBufferOverflowException.class);
          failed.add(message);
        }

        @Override
        protected boolean beforeFlush() {
          return open;
        }

        @Override
        protected boolean flushesSoon() {
          return soon;
        }
      };

  private List<ByteBuf> buffers() {
    channel.runPendingTasks();
    List<ByteBuf> all = new ArrayList<>();
    ByteBuf one;
    while ((one = channel.readOutbound()) != null) {
      all.add(one);
    }
    return all;
  }

  private static List<String> frames(List<ByteBuf> buffers) {
    List<String> all = new ArrayList<>();
    for (ByteBuf buffer : buffers) {
      while (buffer.isReadable()) {
        all.add(
            buffer
                .readCharSequence(buffer.readInt(), java.nio.charset.StandardCharsets.UTF_8)
                .toString());
      }
      buffer.release();
    }
    return all;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  @Test
  void manyMessages_leaveInOrder_asOneBuffer() {
    List<String> sent = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      sent.add("message " + i);
      outgoing.add(bytes("message " + i));
    }
    List<ByteBuf> buffers = buffers();
    assertThat(buffers).hasSize(1);
    assertThat(frames(buffers)).isEqualTo(sent);
  }

  @Test
  void messagesOfTheLoop_waitForItsFlush_andKeepTheOrder() {
    outgoing.add(bytes("a"));
    soon = true;
    outgoing.add(bytes("b")); // behind the first one, which waits
    outgoing.flush();
    outgoing.add(bytes("c"));
    assertThat(frames(buffers())).containsExactly("a", "b");
    outgoing.flush();
    assertThat(frames(buffers())).containsExactly("c");
    for (int i = 0; i < 1_000; i++) {
      outgoing.add(bytes("d"));
    }
    assertThat(frames(buffers())).hasSizeGreaterThan(500); // the first do not wait for the last
  }

  @Test
  void unwantedMessage_leavesNothingBehind() {
    outgoing.add(bytes("a"));
    outgoing.add(UNWANTED);
    outgoing.add(bytes("b"));
    assertThat(frames(buffers())).containsExactly("a", "b");
  }

  /**
   * A call that is too late fails when its request is written, and its caller sends another one.
   */
  @Test
  void messageThatIsAddedWhileAnotherIsWritten_leavesWhole_behindIt() {
    for (boolean first : new boolean[] {true, false}) {
      soon = first; // the first two are written at once, or wait until all are
      added.addAll(List.of("c", "d"));
      outgoing.add(bytes("a"));
      outgoing.add(UNWANTED);
      soon = true;
      outgoing.add(bytes("b"));
      outgoing.add(UNWANTED);
      outgoing.flush();
      assertThat(frames(buffers())).containsExactlyInAnyOrder("a", "b", "c", "d");
    }
  }

  @Test
  void messageOverTheLimit_fails_andThoseAroundItLeave() {
    byte[] large = new byte[Framing.CLIENT_FRAME_BYTES_MAX];
    byte[] tooLarge = new byte[Framing.CLIENT_FRAME_BYTES_MAX + 1];
    outgoing.add(new byte[1_000]);
    outgoing.add(large); // fits only alone
    outgoing.add(tooLarge);
    outgoing.add(bytes("b"));
    List<ByteBuf> buffers = buffers();
    assertThat(failed).containsExactly(tooLarge);
    assertThat(buffers.stream().map(ByteBuf::readableBytes))
        .containsExactly(1_004, large.length + 4, 5);
    buffers.forEach(ByteBuf::release);
  }

  @Test
  void nothingIsHandedOn_whereItMustNot() {
    open = false;
    outgoing.add(bytes("a"));
    assertThat(buffers()).isEmpty();
    open = true;
    outgoing.add(bytes("b"));
    assertThat(frames(buffers())).containsExactly("b");
  }
}
