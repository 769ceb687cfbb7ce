package io.osier.datacenter.redis.transaction;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a connection watches and the commands that it has queued, from MULTI to EXEC. The
 * bytes are taken from the user's budget. Used by the connection's loop only, except for {@link
 * #queued} and {@link #watched}.
 */
public final class Transaction {
  /** Most commands, most keys that they name, and most keys that are watched. */
  static final int COUNT_MAX = Request.PROGRAM_MAX;

  static final long BYTES_MAX = 64L << 20;

  private static final RespValue QUEUED = new RespValue.Simple("QUEUED");

  /**
   * Bytes of heap that a watched key takes besides its own: an entry, and a version of a few
   * datacenters.
   */
  private static final int WATCHED_BYTES = 512;

  /** After an EXEC whose answers take more bytes, the next one is not begun beside others. */
  private static final long MUCH_BYTES = 64 << 10;

  private final Supplier<ByteBudget> budgets;
  private final Function<String, @Nullable Object> lives;
  private final Snapshot snapshot = new Snapshot();

  /** The budget of the answers of EXECs that have run and whose answers have not come back. */
  private final ByteBudget answerBytes;

  /** Whether the answers of the last EXEC took more than {@link #MUCH_BYTES}. */
  private boolean answersMuch;

  private boolean open;

  /** Whether a command could not be queued: EXEC does nothing then. */
  private boolean spoilt;

  private final List<Queued> commands = new ArrayList<>();

  /** The versions that watched keys had. */
  private final Map<Key, VersionVector> versions = new LinkedHashMap<>();

  /**
   * The life of their keyspace when the first was watched: a later keyspace of the same name may
   * have equal versions.
   */
  private @Nullable Object life;

  /** The number of keys that the queued commands name; a command without keys counts 1. */
  private int named;

  private long queuedBytes;

  /** Where all watched and queued keys are; null if there are none. */
  private @Nullable Where where;

  private ByteBudget budget = ByteBudget.UNLIMITED;
  private long heldBytes;

  private volatile int queued = -1;
  private volatile int watched;

  /** A database, and a partition of one of its keyspaces. */
  private record Where(Database database, Database.Place place) {}

  /**
   * @param budgets returns the present budget of the connection's user
   * @param answers the budget of the answers of all connections
   * @param lives returns what distinguishes a keyspace from others of its name; null if there is
   *     none
   */
  public Transaction(
      Supplier<ByteBudget> budgets, ByteBudget answers, Function<String, @Nullable Object> lives) {
    this.lives = lives;
    this.answerBytes = new ByteBudget(Execution.ANSWERS_BYTES_MAX, answers);
    this.budgets = budgets;
  }

  /** Returns the transaction of several steps; while it is open no command is queued. */
  public Snapshot snapshot() {
    return snapshot;
  }

  public boolean isOpen() {
    return open;
  }

  /** Returns how many commands are queued; -1 outside of MULTI. For any thread. */
  public int queued() {
    return queued;
  }

  /** Returns how many keys are watched. For any thread. */
  public int watched() {
    return watched;
  }

  // ---------------------------------------------------------------- commands

  /** MULTI. */
  public RespValue begin() {
    if (open) {
      throw new RedisException("ERR MULTI calls can not be nested");
    }
    open = true;
    queued = 0;
    return RespValue.OK;
  }

  /**
   * Queues a command.
   *
   * @throws RedisException if the command is known to be wrong, or there is no room for it; the
   *     caller then calls {@link #spoil}
   */
  public RespValue queue(Scope scope, Queued command) {
    if (spoilt) {
      return QUEUED; // not kept, since EXEC will do nothing
    }
    List<Key> keys = command.keys();
    Where of = where(scope, keys);
    int count = named + Math.max(1, keys.size());
    long bytes = command.bytes();
    if (count > COUNT_MAX || queuedBytes + bytes > BYTES_MAX) {
      throw new RedisException(
          "ERR a transaction has at most "
              + COUNT_MAX
              + " commands, names as many keys, and takes "
              + (BYTES_MAX >> 20)
              + " MiB");
    }
    hold(bytes);
    where = of;
    named = count;
    queuedBytes += bytes;
    commands.add(command);
    queued = commands.size();
    return QUEUED;
  }

  /**
   * Notes that a command could not be queued, and drops the queued commands: EXEC will do nothing.
   */
  public void spoil() {
    if (open) {
      spoilt = true;
      commands.clear();
      release(queuedBytes);
      queuedBytes = 0;
    }
  }

  /** Returns the keys that queued commands read, as the client sent them. */
  public List<byte[]> readWords() {
    return commands.stream()
        .filter(command -> command.command().flags().contains(RedisCommand.Flag.READONLY))
        .flatMap(command -> command.command().keys().of(command.words()).stream())
        .toList();
  }

  public RespValue discard() {
    if (!open) {
      throw new RedisException("ERR DISCARD without MULTI");
    }
    close();
    return RespValue.OK;
  }

  /**
   * Returns whether commands behind EXEC must wait until it is answered: a queued command is done
   * by the connection after the partition's turn, or large answers are expected.
   */
  public boolean holds() {
    return answersMuch || commands.stream().anyMatch(command -> command.own() != null);
  }

  /**
   * EXEC: returns the plan of one program. Nothing is watched or queued afterwards.
   *
   * @param scope returns what the commands are translated with now
   * @param rights refuses the steps for which the user lacks a right
   */
  public Plan exec(Supplier<Scope> scope, UnaryOperator<Function<Request, Reply>> rights) {
    if (!open) {
      throw new RedisException("ERR EXEC without MULTI");
    }
    if (spoilt) {
      close();
      throw new RedisException("EXECABORT Transaction discarded because of previous errors.");
    }
    List<Queued> all = List.copyOf(commands);
    List<Call.Guard> guards = new ArrayList<>(versions.size());
    versions.forEach((key, version) -> guards.add(new Call.Guard(key, version)));
    Where of = where;
    Object watchedLife = guards.isEmpty() ? null : life;
    long bytes = queuedBytes;
    close();
    Scope now = scope.get();
    Execution execution = new Execution(now, all, answerBytes);
    if (of == null) {
      return new Plan.Answer(execution.answers());
    }
    if (!of.database.equals(now.database())) {
      throw new RedisException(
          "EXECABORT the database is not the one of the keys that are watched or queued");
    }
    Object present = watchedLife == null ? null : lives.apply(of.place.keyspace());
    if (present != null && !present.equals(watchedLife)) {
      return new Plan.Answer(new RespValue.NullArray());
    }
    Set<Key> keys = new LinkedHashSet<>();
    guards.forEach(guard -> keys.add(guard.key()));
    all.forEach(command -> keys.addAll(command.keys()));
    Call.Script script =
        new Call.Script(
                List.copyOf(keys),
                all.stream().anyMatch(Queued::isUpdate),
                bytes,
                execution,
                Optional.of(() -> execution.form(rights)))
            .answeredBy(rights);
    return asked(
        new Request.Evaluate(of.place.keyspace(), List.of(script), guards, VersionVector.EMPTY, 0),
        reply -> {
          long answered = execution.release();
          if (reply instanceof Reply.Evaluated done && done.held()) {
            answered += execution.answered(done.parts());
          }
          answersMuch = answered > MUCH_BYTES;
          return new Plan.Answer(
              switch (reply) {
                case Reply.Failure failure -> RedisErrors.of(failure);
                case Reply.Evaluated done when done.held() -> execution.answers();
                default -> new RespValue.NullArray();
              });
        });
  }

  public Plan watch(Scope scope, List<Key> keys) {
    if (open) {
      throw new RedisException("ERR WATCH inside MULTI is not allowed");
    }
    Where of = where(scope, keys);
    Set<Key> more = new LinkedHashSet<>(keys);
    more.removeAll(versions.keySet());
    if (versions.size() + more.size() > COUNT_MAX) {
      throw new RedisException("ERR at most " + COUNT_MAX + " keys can be watched");
    }
    if (more.isEmpty()) {
      return new Plan.Answer(RespValue.OK);
    }
    long bytes = more.stream().mapToLong(key -> WATCHED_BYTES + key.heapBytes()).sum();
    hold(bytes);
    where = of;
    List<Key> asked = List.copyOf(more);
    String keyspace = scope.database().keyspace(asked.getFirst());
    life = life == null ? lives.apply(keyspace) : life;
    return asked(
        new Request.Evaluate(
            keyspace,
            asked.stream().<Call>map(Call.Version::new).toList(),
            List.of(),
            VersionVector.EMPTY,
            0),
        found -> {
          if (found instanceof Reply.Failure failure) {
            release(bytes);
            where = versions.isEmpty() ? null : where;
            life = versions.isEmpty() ? null : life;
            return new Plan.Answer(RedisErrors.of(failure));
          }
          watching(asked, ((Reply.Evaluated) found).parts());
          return new Plan.Answer(RespValue.OK);
        });
  }

  private void watching(List<Key> keys, List<Reply> parts) {
    for (int i = 0; i < parts.size(); i++) {
      // A key that could not be read gets the version of an absent key.
      VersionVector version =
          parts.get(i) instanceof Reply.Answer answer ? answer.seen() : VersionVector.EMPTY;
      versions.putIfAbsent(keys.get(i), version);
    }
    watched = versions.size();
  }

  public RespValue unwatch() {
    if (!open) {
      close();
    }
    return RespValue.OK;
  }

  /** Forgets the watched keys, the queued commands and the open snapshot. */
  public void close() {
    snapshot.forget();
    open = false;
    spoilt = false;
    commands.clear();
    versions.clear();
    life = null;
    named = 0;
    queuedBytes = 0;
    where = null;
    release(heldBytes);
    queued = -1;
    watched = 0;
  }

  // ---------------------------------------------------------------- what both need

  /**
   * Returns where keys are, together with those that were watched and queued before.
   *
   * @throws RedisException if they are not all in one place
   */
  private @Nullable Where where(Scope scope, List<Key> keys) {
    Where all = where;
    for (Key key : keys) {
      Where of = new Where(scope.database(), scope.database().place(key));
      if (all != null && !all.database.equals(of.database)) {
        throw new RedisException(
            "CROSSSLOT the keys of a transaction, and those it watches, are of one database");
      }
      if (all != null && !all.place.equals(of.place)) {
        throw new RedisException(RedisErrors.OTHER_SLOT);
      }
      all = of;
    }
    return all;
  }

  private void hold(long bytes) {
    if (heldBytes == 0) {
      budget = budgets.get();
    }
    if (!budget.tryTake(bytes)) {
      throw new RedisException(
          "BUSY there is no memory for "
              + bytes
              + " bytes more of this connection's transaction beside other requests; end it, or try"
              + " again later");
    }
    heldBytes += bytes;
  }

  /**
   * Gives bytes back to the budget, if they are still held: {@link #close} may have given them
   * back.
   */
  private void release(long bytes) {
    long held = Math.min(bytes, heldBytes);
    budget.give(held);
    heldBytes -= held;
  }

  private static Plan asked(Request.Evaluate program, Function<Reply, Plan> then) {
    return new Plan.Ask(List.of(program), replies -> then.apply(replies.getFirst()));
  }
}
