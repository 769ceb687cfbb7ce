package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.shown;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.frontend.Scripts;
import io.osier.datacenter.redis.command.Cursors;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.transaction.Execution;
import io.osier.datacenter.redis.transaction.QueueForm;
import io.osier.datacenter.redis.transaction.Queued;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Runs EXEC for clients of datacenters that do not hold the keyspace: the queued commands arrive as
 * words, and are done here as those of this datacenter's clients are. Thread-safe.
 */
public final class ElsewhereQueued implements Scripts {
  /** Most bytes of the answers of one EXEC: a reply to another datacenter has 65 MiB. */
  private static final long ANSWERS_BYTES_MAX = 32L << 20;

  /** Walks end after their first step, since each datacenter has cursors of its own. */
  private static final Cursors NO_PLACES =
      new Cursors() {
        @Override
        public long put(byte[] place) {
          throw new RedisException(
              "ERR SCAN within MULTI cannot be continued in a keyspace that other datacenters hold:"
                  + " use it without MULTI");
        }

        @Override
        public Optional<byte[]> get(long cursor) {
          return cursor == 0 ? Optional.empty() : Optional.of(new byte[] {(byte) put(new byte[0])});
        }
      };

  private final CommandTable table = RedisPort.table();
  private final Function<String, Optional<Partitioning>> partitionings;
  private final LongSupplier millis;
  private final RandomGenerator chance;

  /**
   * @param partitionings returns the partitions of a keyspace that is held here
   * @param millis the present time, in milliseconds since 1970
   * @param chance draws seeds
   */
  public ElsewhereQueued(
      Function<String, Optional<Partitioning>> partitionings,
      LongSupplier millis,
      RandomGenerator chance) {
    this.partitionings = partitionings;
    this.millis = millis;
    this.chance = chance;
  }

  @Override
  public Begun read(String keyspace, byte[] form, Set<Key> named, ByteBudget answers) {
    QueueForm queue = QueueForm.decode(form);
    List<Queued> commands = new ArrayList<>(queue.commands().size());
    Set<Key> keys = new LinkedHashSet<>(named);
    long bytes = 0;
    boolean isUpdate = false;
    for (byte[][] words : queue.commands()) {
      Queued command = queued(words);
      commands.add(command);
      keys.addAll(keys(command));
      bytes += command.bytes();
      isUpdate |= command.isUpdate();
    }
    if (keys.isEmpty()) {
      throw new MalformedException("EXEC is about one key or more");
    }
    // A keyspace that is not held here is refused later, so any partitioning will do.
    Partitioning partitioning = partitionings.apply(keyspace).orElse(Partitioning.byKey(1));
    Scope scope =
        new Scope(
            new Database(keyspace, partitioning),
            millis.getAsLong(),
            seed(),
            queue.resp3(),
            NO_PLACES);
    Execution execution =
        new Execution(scope, commands, new ByteBudget(ANSWERS_BYTES_MAX, answers));
    Call.Script script = new Call.Script(List.copyOf(keys), isUpdate, bytes, execution);
    return new Following(script, execution);
  }

  private long seed() {
    synchronized (chance) {
      return chance.nextLong();
    }
  }

  /** Finds the command; a newer datacenter may know commands that this one refuses. */
  private Queued queued(byte[][] words) {
    CommandTable.Entry entry = table.find(words[0]);
    if (entry == null
        || entry.action() != null
        || entry.within() != CommandTable.Within.QUEUED
        || !entry.fits(words.length)) {
      throw new MalformedException(
          "the command '" + shown(words[0]) + "' is unknown or has a wrong number of arguments");
    }
    return new Queued(entry.command(), words, null);
  }

  private static List<Key> keys(Queued command) {
    try {
      return command.keys();
    } catch (OsierException e) {
      throw new MalformedException("a command has an invalid key: " + e.reason());
    }
  }

  private record Following(Call.Script script, Execution execution) implements Begun {
    @Override
    public long bytes() {
      return execution.bytes();
    }

    @Override
    public Reply answer(Reply reply, VersionVector seen) {
      try {
        return reply instanceof Reply.Evaluated done && done.held() && !execution.isEmpty()
            ? new Reply.Evaluated(true, done.dot(), execution.parts(seen))
            : reply;
      } finally {
        execution.release();
      }
    }
  }
}
