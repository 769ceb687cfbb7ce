package io.osier.datacenter.redis.transaction;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisCommand;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command that waits for EXEC.
 *
 * @param command the command
 * @param words its words, as many as its arity says
 * @param own does a command that only its connection can do, after the partition's turn; null for a
 *     command that asks the partition
 */
public record Queued(RedisCommand command, byte[][] words, @Nullable Supplier<RespValue> own) {
  /** Bytes of heap that a command takes besides its words, about. */
  private static final int BYTES = 64;

  /** Bytes of heap that a word takes besides its content, about. */
  private static final int WORD_BYTES = 24;

  public boolean isUpdate() {
    return command.flags().contains(RedisCommand.Flag.WRITE);
  }

  public List<Key> keys() {
    return command.keys().of(words).stream().map(Key::of).toList();
  }

  public long bytes() {
    long sum = BYTES;
    for (byte[] word : words) {
      sum += WORD_BYTES + word.length;
    }
    return sum;
  }
}
