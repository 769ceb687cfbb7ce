package io.osier.propagation.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.TooLongFrameException;

/**
 * Cuts what comes from another datacenter into frames. Before the greeting only a small one is
 * taken, since anybody may connect; after {@link #end} none is, since what follows bad bytes has no
 * meaning.
 */
final class PeerFrames extends LengthFieldBasedFrameDecoder {
  static final int LENGTH_BYTES = 4;

  /** Largest greeting, in bytes: the texts of some thousand keyspaces. */
  private static final int GREETING_BYTES_MAX = 1 << 20;

  private boolean greeted;
  private boolean ended;

  PeerFrames() {
    super(PeerTransport.FRAME_BYTES_MAX, 0, LENGTH_BYTES, 0, LENGTH_BYTES);
  }

  /** Takes frames of any size that is allowed from now on. */
  void greeted() {
    greeted = true;
  }

  /** Takes nothing any more. */
  void end() {
    ended = true;
  }

  boolean hasEnded() {
    return ended;
  }

  /** Whether a frame has come in part. */
  boolean isInFrame() {
    return !ended && actualReadableBytes() > 0;
  }

  @Override
  protected Object decode(ChannelHandlerContext ctx, ByteBuf in) throws Exception {
    if (ended) {
      in.skipBytes(in.readableBytes());
      return null;
    }
    if (!greeted && in.readableBytes() >= LENGTH_BYTES) {
      long length = in.getUnsignedInt(in.readerIndex());
      if (length > GREETING_BYTES_MAX) {
        throw new TooLongFrameException("a greeting of " + length + " bytes");
      }
    }
    return super.decode(ctx, in);
  }
}
