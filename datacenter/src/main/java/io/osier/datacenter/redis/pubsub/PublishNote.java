package io.osier.datacenter.redis.pubsub;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;

/**
 * A published message on its way to another datacenter. It travels as a note of its own kind, and
 * may be lost.
 *
 * @param keyspace the keyspace of the channel; datacenters may give it different database numbers
 * @param channel the channel's name
 * @param content the content
 */
public record PublishNote(String keyspace, byte[] channel, byte[] content) {
  private static final byte KIND = 8;
  private static final int KEYSPACE_BYTES_MAX = 256;

  public static boolean isOne(byte[] note) {
    return note.length > 0 && note[0] == KIND;
  }

  public byte[] encode() {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(KIND);
          out.writeText(keyspace);
          out.writeBlob(channel);
          out.write(content);
        });
  }

  /** Reads what {@link #encode} wrote; throws MalformedException if the bytes are no message. */
  static PublishNote decode(byte[] note) {
    return Codec.readAll(new WireInput(note), "a published message", PublishNote::read);
  }

  private static PublishNote read(WireInput in) {
    in.readByte();
    String keyspace = in.readText(KEYSPACE_BYTES_MAX);
    byte[] channel = in.readBlob(Topic.NAME_BYTES_MAX);
    return new PublishNote(keyspace, channel, in.readBytes(in.remaining()));
  }
}
