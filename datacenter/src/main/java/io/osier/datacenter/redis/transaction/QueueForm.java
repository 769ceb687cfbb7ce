package io.osier.datacenter.redis.transaction;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;

/**
 * The commands of an EXEC as they are sent to another datacenter, which does them. Immutable.
 *
 * @param resp3 whether the answers are encoded in RESP3
 * @param commands the words of each command, its name first
 */
public record QueueForm(boolean resp3, List<byte[][]> commands) {
  private static final int VERSION = 1;

  public QueueForm {
    commands = List.copyOf(commands);
  }

  byte[] encode() {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(VERSION);
          out.writeBoolean(resp3);
          out.writeCount(commands.size());
          for (byte[][] words : commands) {
            out.writeCount(words.length);
            for (byte[] word : words) {
              out.writeBlob(word);
            }
          }
        });
  }

  /** Decodes queued commands; throws MalformedException if the bytes are none. */
  public static QueueForm decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "queued commands", QueueForm::read);
  }

  private static QueueForm read(WireInput in) {
    if (in.readByte() != VERSION) {
      throw new MalformedException("the form of queued commands is of another version");
    }
    boolean resp3 = in.readFlag();
    int count = in.readCount(2);
    if (count > Transaction.COUNT_MAX) {
      throw new MalformedException(count + " commands are too many");
    }
    List<byte[][]> commands = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      byte[][] words = new byte[in.readCount(1)][];
      for (int w = 0; w < words.length; w++) {
        words[w] = in.readBlob(Codec.RECORD_BYTES_MAX);
      }
      if (words.length == 0) {
        throw new MalformedException("a command has one word or more");
      }
      commands.add(words);
    }
    return new QueueForm(resp3, commands);
  }
}
