package io.osier.propagation.net.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * Compresses what leaves on a connection: all messages that are flushed together are one block of
 * Deflate (RFC 1951), which refers to the blocks before it on the connection ({@link
 * PeerMessage.Compressed}). No message waits longer for it.
 *
 * <p>A limited number of bytes a second is compressed. What exceeds it, and messages larger than a
 * block, travel uncompressed, in their place between the blocks: a link that is that fast has room,
 * and the processor has not. For the channel's loop, a new one for each channel.
 */
public final class LinkCompressor extends ChannelDuplexHandler {
  /** The most bytes that are compressed into one block. */
  public static final int BLOCK_BYTES_MAX = 128 << 10;

  /** How many bytes a second are compressed by default. */
  public static final int BYTES_PER_SECOND = 2 << 20;

  /** Blocks of at most this size, such as a ping, would not become smaller. */
  private static final int PLAIN_BYTES_MAX = 16;

  /** Each block ends with these bytes, which do not travel. */
  static final byte[] TAIL = {0, 0, -1, -1};

  private static final int LEVEL = 3;
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LinkTraffic traffic;
  private final ByteBuf gathered = Unpooled.buffer();
  private List<ChannelPromise> promises = new ArrayList<>();

  /** Null while messages are not compressed. */
  private @Nullable Deflater deflater;

  private long bytesPerSecond;
  private long allowance;
  private long allowanceNanos;

  /**
   * @param traffic counts the bytes written and saved
   */
  public LinkCompressor(LinkTraffic traffic) {
    this.traffic = traffic;
  }

  /** Begins to compress this many bytes a second; 0 for none. */
  public void begin(int perSecond, long nowNanos) {
    if (perSecond > 0) {
      deflater = new Deflater(LEVEL, true);
      bytesPerSecond = perSecond;
      allowance = perSecond;
      allowanceNanos = nowNanos;
    }
  }

  /** Returns how many bytes were written and not flushed yet. */
  public int gatheredBytes() {
    return gathered.readableBytes();
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (!(message instanceof ByteBuf bytes)) {
      ctx.write(message, promise);
      return;
    }
    int size = bytes.readableBytes();
    traffic.written(size);
    if (deflater == null || !isAllowed(size, PeerWire.nowNanos(ctx))) {
      pack(ctx); // messages that were written before it
      ctx.write(bytes, promise);
      return;
    }
    if (gathered.readableBytes() + size > BLOCK_BYTES_MAX) {
      pack(ctx);
    }
    gathered.writeBytes(bytes);
    bytes.release();
    promises.add(promise);
  }

  private boolean isAllowed(int size, long nowNanos) {
    long passed = Math.min(SECOND_NANOS, nowNanos - allowanceNanos);
    long more = passed * bytesPerSecond / SECOND_NANOS;
    allowance = Math.min(bytesPerSecond, allowance + more);
    // The rest of the time, too short for a byte, counts the next time.
    allowanceNanos =
        passed == SECOND_NANOS ? nowNanos : allowanceNanos + more * SECOND_NANOS / bytesPerSecond;
    boolean isAllowed = size <= Math.min(allowance, BLOCK_BYTES_MAX);
    allowance -= isAllowed ? size : 0;
    return isAllowed;
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    pack(ctx);
    ctx.flush();
  }

  private void pack(ChannelHandlerContext ctx) {
    int size = gathered.readableBytes();
    if (size == 0 || deflater == null) {
      return;
    }
    ByteBuf block =
        size <= PLAIN_BYTES_MAX
            ? Unpooled.copiedBuffer(gathered)
            : PeerMessage.frame(new PeerMessage.Compressed(deflated(deflater, size)));
    gathered.clear();
    // Never negative: the counter only grows.
    traffic.saved(Math.max(0, size - block.readableBytes()));
    List<ChannelPromise> packed = promises;
    promises = new ArrayList<>();
    ChannelPromise sent = ctx.newPromise();
    sent.addListener(
        f -> {
          if (f.isSuccess()) {
            packed.forEach(ChannelPromise::trySuccess);
          } else {
            packed.forEach(p -> p.tryFailure(f.cause()));
          }
        });
    ctx.write(block, sent);
  }

  private byte[] deflated(Deflater to, int size) {
    to.setInput(gathered.array(), gathered.arrayOffset() + gathered.readerIndex(), size);
    byte[] out = new byte[size + (size >> 3) + 64]; // an upper bound of the compressed size
    int length = to.deflate(out, 0, out.length, Deflater.SYNC_FLUSH);
    return Arrays.copyOf(out, length - TAIL.length);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (deflater != null) {
      deflater.end();
      deflater = null;
    }
    gathered.clear();
    promises.forEach(p -> p.tryFailure(new ClosedChannelException()));
    promises.clear();
    ctx.fireChannelInactive();
  }
}
