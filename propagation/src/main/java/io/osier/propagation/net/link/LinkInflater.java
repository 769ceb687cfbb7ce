package io.osier.propagation.net.link;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.net.Framing;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Reads the blocks of a connection's {@link LinkCompressor}, one after another, since each refers
 * to those before it. For the channel's loop.
 */
public final class LinkInflater {
  /** Null before the first block. */
  private @Nullable Inflater inflater;

  private byte[] buffer = {};

  public LinkInflater() {}

  /**
   * Returns the messages of a block.
   *
   * @throws MalformedException if it is not a block
   */
  public List<PeerMessage> messages(PeerMessage.Compressed compressed) {
    if (inflater == null) {
      inflater = new Inflater(true);
      buffer = new byte[LinkCompressor.BLOCK_BYTES_MAX + 1];
    }
    int length;
    try {
      length = inflate(inflater, compressed.block(), 0);
      length = inflate(inflater, LinkCompressor.TAIL, length);
    } catch (DataFormatException e) {
      throw new MalformedException("not a compressed block: " + e.getMessage(), e);
    }
    List<PeerMessage> messages = new ArrayList<>();
    int from = 0;
    while (from < length) {
      int size = length - from < Framing.LENGTH_BYTES ? -1 : Framing.getLength(buffer, from);
      from += Framing.LENGTH_BYTES;
      if (size < 0 || size > length - from) {
        throw new MalformedException("a compressed message is not whole");
      }
      PeerMessage message = PeerMessage.decode(new WireInput(buffer, from, size));
      if (message instanceof PeerMessage.Compressed) {
        throw new MalformedException("a block in a block");
      }
      messages.add(message);
      from += size;
    }
    return messages;
  }

  /**
   * Inflates into the buffer, behind its present content; returns the number of bytes that are in
   * it then.
   */
  private int inflate(Inflater from, byte[] bytes, int already) throws DataFormatException {
    from.setInput(bytes);
    int length = already;
    int more = from.inflate(buffer, length, buffer.length - length);
    while (more > 0) {
      length += more;
      if (length > LinkCompressor.BLOCK_BYTES_MAX) {
        throw new MalformedException("a block of more than " + LinkCompressor.BLOCK_BYTES_MAX);
      }
      more = from.inflate(buffer, length, buffer.length - length);
    }
    if (from.getRemaining() > 0 || from.finished()) {
      throw new MalformedException("a compressed block ends too early");
    }
    return length;
  }

  /** Frees the memory that it holds outside the heap. */
  public void end() {
    if (inflater != null) {
      inflater.end();
      inflater = null;
    }
  }
}
