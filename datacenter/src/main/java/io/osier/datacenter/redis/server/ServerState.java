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
 * What the connections of a port share: the keyspaces that are its databases, what it counts, and
 * what tells them of messages and changes. Thread-safe.
 */
public final class ServerState {
  /** So long it is not looked again which keyspaces there are. */
  private static final long KEYSPACES_MILLIS = 100;

  /**
   * What it has of the world.
   *
   * @param version of this program
   * @param millis the present time, since 1970
   * @param chance draws seeds and numbers that nobody can guess
   * @param hasher hashes passwords, and rejects what is too much
   * @param beside goes on with commands that have read much, which would hold up a loop
   * @param pushes what connections are told without having asked
   * @param durable whether what is answered is on its disk
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

  /** What connections are told without having asked. */
  public record Pushes(PubSub pubSub, Tracking tracking) {}

  /** The keyspaces there were at a time, by their databases' numbers. */
  private record Known(long atMillis, Map<Integer, Database> byNumber) {}

  private final Databases databases;
  private final ClientService handler;
  final Around around;
  final Logins logins;
  final CursorTable cursors;

  /** What CONFIG SET keeps and CONFIG GET shows: nothing else reads it. */
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

  /** The keyspace of a database; an error if there is none. */
  Database database(int number) {
    return database(number, millis());
  }

  /** For who knows the present time, in milliseconds since 1970. */
  Database database(int number, long now) {
    Database of = databases(now).get(number);
    if (of == null) {
      throw missing(
          "ERR there is no keyspace for database " + number + ": osier.redis.databases names them");
    }
    return of;
  }

  /** Those that there are, by their numbers. */
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
      databases
          .find(of, here, all) // the only one here is 0, whatever others hold, wherever others go
          .ifPresent(info -> byNumber.put(of, new Database(info.name(), info.partitioning())));
    }
    known = new Known(now, byNumber);
    return byNumber;
  }

  /** The keyspaces of all databases, with the homes of those that have some; each once. */
  List<Database> keyspaces() {
    return databases().values().stream().flatMap(of -> of.homes().stream()).distinct().toList();
  }

  /** Checks that a database may be selected; an error if it may not. */
  void checkDatabase(int number) {
    if (!databases().containsKey(number) && number != 0) {
      throw missing("ERR DB index is out of range");
    }
  }

  /** What is said of a database without a keyspace. */
  private RuntimeException missing(String error) {
    return handler.knowsKeyspaces()
        ? new RedisException(error)
        : new OsierException(ClientService.NOT_KNOWN.code(), ClientService.NOT_KNOWN.message());
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

  /** What a session draws by. */
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

  /** What clients were shown of a partition by others. */
  VersionVector shown(String keyspace, int partition) {
    return handler.shown(keyspace, partition);
  }

  /** What tells a keyspace from others of its name; null if there is none. */
  @Nullable Object life(String keyspace) {
    return handler.life(keyspace);
  }

  /** Whether a keyspace is held here. */
  boolean holds(String keyspace) {
    return handler.holds(keyspace);
  }

  /**
   * Has the caches hear of changes from now on, or soon; whether they do already of all.
   *
   * @throws OsierException UNAVAILABLE if one is held elsewhere and no holder is in reach
   */
  boolean listen(Collection<String> keyspaces) {
    boolean hears = true;
    for (String keyspace : keyspaces) {
      hears &= handler.listen(keyspace, around.pushes.tracking.of(keyspace));
    }
    return hears;
  }
}
