package io.osier.core.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.MessageToMessageDecoder;
import io.netty.handler.codec.MessageToMessageEncoder;
import java.util.List;

/**
 * Frames on a TCP connection, of clients and of peers alike:
 *
 * <pre>
 *   +-----------------+----------------------+
 *   | length          | content              |
 *   | 4 bytes, big-e. | length bytes         |
 *   +-----------------+----------------------+
 * </pre>
 *
 * <p>A length over the limit closes the connection before anything is allocated for it.
 */
public final class Framing {
  /**
   * Largest frame between a client and a datacenter, in bytes: a value of the largest size and
   * room.
   */
  public static final int CLIENT_FRAME_BYTES_MAX = 65 << 20;

  private static final int LENGTH_BYTES = 4;

  private Framing() {}

  /** Adds the handlers that turn bytes into byte arrays, one a frame, and back. */
  public static void addTo(ChannelPipeline pipeline, int frameBytesMax) {
    pipeline.addLast(
        "frame-in",
        new LengthFieldBasedFrameDecoder(frameBytesMax, 0, LENGTH_BYTES, 0, LENGTH_BYTES));
    pipeline.addLast("frame-out", new LengthFieldPrepender(LENGTH_BYTES));
    pipeline.addLast("bytes-in", new BytesIn());
    pipeline.addLast("bytes-out", new BytesOut());
  }

  private static final class BytesIn extends MessageToMessageDecoder<ByteBuf> {
    BytesIn() {
      super(ByteBuf.class);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf frame, List<Object> out) {
      byte[] bytes = new byte[frame.readableBytes()];
      frame.readBytes(bytes);
      out.add(bytes);
    }
  }

  private static final class BytesOut extends MessageToMessageEncoder<byte[]> {
    BytesOut() {
      super(byte[].class);
    }

    @Override
    protected void encode(ChannelHandlerContext ctx, byte[] bytes, List<Object> out) {
      out.add(io.netty.buffer.Unpooled.wrappedBuffer(bytes));
    }
  }
}
