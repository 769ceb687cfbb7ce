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
 * PeerMessage.Compressed}). Nothing waits longer for it.
 *
 * <p>So many bytes a second are compressed. What is beyond that, and what is larger than a block,
 * travels as it is, in its place between the blocks: a link that is that fast has room, and the
 * processor has not. For the channel's loop, a new one for each channel.
 */
public final class LinkCompressor extends ChannelDuplexHandler {
  /** So many bytes become one block at most. */
  public static final int BLOCK_BYTES_MAX = 128 << 10;

  /** What is compressed of a second unless something else is set. */
  public static final int BYTES_PER_SECOND = 2 << 20;

  /** So few bytes, as of a ping, would not become fewer. */
  private static final int PLAIN_BYTES_MAX = 16;

  /** Each block ends with these bytes, which do not travel. */
  static final byte[] TAIL = {0, 0, -1, -1};

  private static final int LEVEL = 3;
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LinkTraffic traffic;
  private final ByteBuf gathered = Unpooled.buffer();
  private List<ChannelPromise> promises = new ArrayList<>();

  /** Null while messages travel as they are. */
  private @Nullable Deflater deflater;

  private long bytesPerSecond;
  private long allowance;
  private long allowanceNanos;

  /**
   * @param traffic where is counted what is written and what is saved
   */
  public LinkCompressor(LinkTraffic traffic) {
    this.traffic = traffic;
  }

  /** From now on so many bytes a second are compressed; 0 for none. */
  public void begin(int perSecond, long nowNanos) {
    if (perSecond > 0) {
      deflater = new Deflater(LEVEL, true);
      bytesPerSecond = perSecond;
      allowance = perSecond;
      allowanceNanos = nowNanos;
    }
  }

  /** What is written and was not flushed yet, in bytes. */
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
      pack(ctx); // which was written before it
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
    // What was too short for a byte counts the next time.
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
    traffic.saved(Math.max(0, size - block.readableBytes())); // a counter that only grows
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
    byte[] out = new byte[size + (size >> 3) + 64]; // more than it can become
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
