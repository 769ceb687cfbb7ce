package io.osier.datacenter.redis.server;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Databases;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Settings;
import io.osier.datacenter.redis.cursor.CursorTable;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.tracking.Tracking;
import io.osier.protocol.Reply;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The state that the connections of a port share: the keyspaces that are its databases, counts, and
 * the sources of messages and changes. Thread-safe.
 */
public final class ServerState {
  /** How long the list of keyspaces is kept before it is made again, in milliseconds. */
  private static final long KEYSPACES_MILLIS = 100;

  /**
   * The port's surroundings.
   *
   * @param self this datacenter
   * @param version the version of this program
   * @param millis the present time, in milliseconds since 1970
   * @param chance draws seeds and numbers that nobody can guess
   * @param hasher hashes passwords, and rejects tasks beyond its limit
   * @param beside makes plans from large replies, which would hold up a loop
   * @param pushes the sources of pushes
   * @param durable whether answered updates are on disk
   */
  public record Around(
      ReplicaId self,
      String version,
      LongSupplier millis,
      RandomGenerator chance,
      Executor hasher,
      Executor beside,
      Pushes pushes,
      boolean durable) {}

  /** The sources of pushes: messages, and changes of tracked keys. */
  public record Pushes(PubSub pubSub, Tracking tracking) {}

  /** The databases at a time, by their numbers. */
  private record Known(long atMillis, Map<Integer, Database> byNumber) {}

  private final Databases databases;
  private final ClientService handler;
  final Around around;
  final Logins logins;
  final CursorTable cursors;

  /** The settings that CONFIG SET changes and CONFIG GET shows; nothing else reads them. */
  final Map<String, String> settings = new ConcurrentSkipListMap<>();

  final long startMillis;
  private final AtomicLong ids = new AtomicLong();
  private final LongAdder opened = new LongAdder();
  private final LongAdder commands = new LongAdder();
  private final SplittableRandom seeds;
  private volatile Known known = new Known(Long.MAX_VALUE, Map.of());
  private volatile int port;

  ServerState(Map<Integer, String> databases, ClientService handler, Around around) {
    this.databases = new Databases(databases);
    this.handler = handler;
    this.around = around;
    this.logins = new Logins(around.hasher);
    this.startMillis = around.millis.getAsLong();
    this.seeds = new SplittableRandom(around.chance.nextLong());
    this.cursors = new CursorTable(around.millis, this::drawn);
    this.settings.putAll(Settings.first(this.databases.count()));
  }

  private long drawn() {
    synchronized (around.chance) {
      return around.chance.nextLong();
    }
  }

  // ---------------------------------------------------------------- keyspaces

  /** Returns a database; throws RedisException if no keyspace has this number. */
  Database database(int number) {
    return database(number, millis());
  }

  /**
   * As {@link #database(int)}, for callers that know the present time.
   *
   * @param now the present time, in milliseconds since 1970
   */
  Database database(int number, long now) {
    Database of = databases(now).get(number);
    if (of == null) {
      throw missing(
          "ERR there is no keyspace for database " + number + ": osier.redis.databases names them");
    }
    return of;
  }

  /** Returns the databases by their numbers. */
  Map<Integer, Database> databases() {
    return databases(millis());
  }

  private Map<Integer, Database> databases(long now) {
    Known last = known;
    if (now >= last.atMillis && now - last.atMillis < KEYSPACES_MILLIS) {
      return last.byNumber;
    }
    List<Reply.KeyspaceInfo> here = handler.settled();
    List<Reply.KeyspaceInfo> all = handler.served();
    Map<Integer, Database> byNumber = new TreeMap<>();
    for (int number = 0; number < databases.count(); number++) {
      int of = number;
      // Database 0 is the only keyspace held here, whatever other datacenters hold.
      databases
          .find(of, here, all)
          .ifPresent(info -> byNumber.put(of, new Database(info.name(), info.partitioning())));
    }
    known = new Known(now, byNumber);
    return byNumber;
  }

  /** Returns the keyspaces of all databases, and each home of those with homes; each once. */
  List<Database> keyspaces() {
    return databases().values().stream().flatMap(of -> of.homes().stream()).distinct().toList();
  }

  /** Checks that a database may be selected; throws RedisException if it may not. */
  void checkDatabase(int number) {
    if (!databases().containsKey(number) && number != 0) {
      throw missing("ERR DB index is out of range");
    }
  }

  /** What is said of a database without a keyspace. */
  private RuntimeException missing(String error) {
    return handler
        .mayLackKeyspaces()
        .<RuntimeException>map(why -> new OsierException(why.code(), why.message()))
        .orElseGet(() -> new RedisException(error));
  }

  // ---------------------------------------------------------------- what sessions share

  void opened() {
    opened.increment();
  }

  long nextId() {
    return ids.incrementAndGet();
  }

  long millis() {
    return around.millis.getAsLong();
  }

  /** Returns a seed for a session. */
  long seed() {
    synchronized (seeds) {
      return seeds.nextLong();
    }
  }

  void count() {
    commands.increment();
  }

  long commandsDone() {
    return commands.sum();
  }

  long connectionsOpened() {
    return opened.sum();
  }

  void resetFigures() {
    commands.reset();
    opened.reset();
  }

  void setPort(int number) {
    port = number;
  }

  int port() {
    return port;
  }

  PubSub pubSub() {
    return around.pushes.pubSub;
  }

  Tracking tracking() {
    return around.pushes.tracking;
  }

  /** Returns the updates of a partition that other holders have shown to clients here. */
  VersionVector shown(String keyspace, int partition) {
    return handler.shown(keyspace, partition);
  }

  /** Returns what distinguishes a keyspace from others of its name; null if there is none. */
  @Nullable Object life(String keyspace) {
    return handler.life(keyspace);
  }

  /** Returns whether a keyspace is held here. */
  boolean holds(String keyspace) {
    return handler.holds(keyspace);
  }

  /**
   * Has the changes of keyspaces reported to the caches; returns whether all of them are already,
   * otherwise they will be soon.
   *
   * @throws OsierException UNAVAILABLE if a keyspace is held elsewhere and no holder is in reach
   */
  boolean listen(Collection<String> keyspaces) {
    boolean hears = true;
    for (String keyspace : keyspaces) {
      hears &= handler.listen(keyspace, around.pushes.tracking.of(keyspace));
    }
    return hears;
  }
}
