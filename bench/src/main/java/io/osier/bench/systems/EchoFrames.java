package io.osier.bench.systems;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;

/**
 * The frames of the echo: a length of four bytes as in Osier's own framing, and content whose first
 * two bytes say how long the answer shall be, so that requests and replies have the sizes of the
 * real ones. Of Netty's own handlers only, so that it does not change with Osier.
 */
final class EchoFrames {
  static final int LENGTH_BYTES = 4;
  private static final int FLUSH_AFTER = 128;
  private static final int FRAME_BYTES_MAX = 1 << 20;
  private static final byte[] ZEROS = new byte[4096];

  private EchoFrames() {}

  static void addTo(ChannelPipeline pipeline) {
    pipeline.addLast(new FlushConsolidationHandler(FLUSH_AFTER, true));
    pipeline.addLast(
        new LengthFieldBasedFrameDecoder(FRAME_BYTES_MAX, 0, LENGTH_BYTES, 0, LENGTH_BYTES));
  }

  /** A frame of so many bytes of content that says how long its answer shall be. */
  static ByteBuf frame(ByteBufAllocator allocator, int bytes, int answerBytes) {
    ByteBuf frame = allocator.ioBuffer(LENGTH_BYTES + bytes);
    frame.writeInt(bytes).writeShort(answerBytes).writeBytes(ZEROS, 0, bytes - Short.BYTES);
    return frame;
  }
}
