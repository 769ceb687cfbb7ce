package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.call.KeyspaceAccess;
import io.osier.proxy.call.ProgramCall;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Reads and updates of objects of one partition, which the datacenter does in one turn: no other
 * update there comes between them, and each call sees the effects of the calls before it. Their
 * changes become visible together: at this datacenter, and in a {@code causal} keyspace at all
 * datacenters; in a {@code session} keyspace the other datacenters show them object by object.
 * Concurrent updates at other datacenters are merged with them, as always.
 *
 * <pre>{@code
 * Program.Result done = shop.program()
 *     .ifAbsent("lock:7")
 *     .update(batch -> batch.register("lock:7").assign("ada"))
 *     .read("stock:7")
 *     .run();
 * }</pre>
 *
 * <p>A program has 1 to {@link Request#PROGRAM_MAX} calls. If a call fails, its error is its
 * answer, and the other calls are done; if a test or a guard does not hold, nothing is done. A
 * program that may have been done is never sent again: it fails with {@link
 * OutcomeUnknownException}. None of its calls waits for rights of a bounded counter. Not
 * thread-safe. It may be run again, as a new program.
 */
public final class Program {
  private final KeyspaceAccess access;
  private final List<Call> calls = new ArrayList<>();
  private final List<Call.Guard> guards = new ArrayList<>();

  Program(KeyspaceAccess access) {
    this.access = access;
  }

  private Program add(Call call) {
    calls.add(call);
    return this;
  }

  /** Adds a read of whatever a key holds. */
  public Program read(String key) {
    return read(Key.of(key), Optional.empty(), new Query.Whole());
  }

  /**
   * Adds a read of an object with any query.
   *
   * @param type the object's type; empty for whatever the key holds
   */
  public Program read(Key key, Optional<CrdtType> type, Query query) {
    return add(new Call.Read(key, type, query));
  }

  /** Adds a read of a key's version, for {@link #ifUnchanged} of a later program. */
  public Program version(String key) {
    return add(new Call.Version(Key.of(key)));
  }

  /**
   * Adds updates that are written as calls of handles; each becomes one call of the program.
   *
   * @param writes is called at once, in this thread
   */
  public Program update(Consumer<Batch> writes) {
    Batch.written(access.values(), writes)
        .forEach(c -> add(new Call.Update(c.key(), c.type(), c.operation(), Optional.empty())));
    return this;
  }

  /**
   * Adds an update of an object, or of a whole key, with any operation.
   *
   * @param ask a query in the same step; empty for none
   */
  public Program update(Key key, CrdtType type, Operation operation, Optional<Request.Ask> ask) {
    return add(new Call.Update(key, type, operation, ask));
  }

  /** Adds an update of an object with any operation, which also returns the object's new value. */
  public Program updateAndRead(String key, CrdtType type, Operation operation) {
    Request.Ask ask = new Request.Ask(false, new Query.Whole());
    return update(Key.of(key), type, operation, Optional.of(ask));
  }

  /**
   * Adds a replacement: the key then holds only a new object of this type with this one update.
   *
   * @param keepsDeadline whether the key's deadline stays; otherwise it has no deadline but one
   *     that the operation gives
   */
  public Program replace(String key, CrdtType type, Operation operation, boolean keepsDeadline) {
    return add(new Call.Replace(Key.of(key), type, operation, keepsDeadline));
  }

  /**
   * Adds a move of what a key holds, with its deadlines, to another key, replacing what that one
   * holds. If {@code from} does not exist, the call does nothing. Concurrent updates elsewhere stay
   * under the former name.
   */
  public Program rename(String from, String to) {
    return add(new Call.Rename(Key.of(from), Key.of(to), false));
  }

  /** As {@link #rename}, but does nothing if the other key exists. */
  public Program renameIfAbsent(String from, String to) {
    return add(new Call.Rename(Key.of(from), Key.of(to), true));
  }

  /** As {@link #rename}, but {@code from} keeps what it holds. */
  public Program copy(String from, String to) {
    return add(new Call.Copy(Key.of(from), Key.of(to), false));
  }

  /** As {@link #copy}, but does nothing if the other key exists. */
  public Program copyIfAbsent(String from, String to) {
    return add(new Call.Copy(Key.of(from), Key.of(to), true));
  }

  /**
   * Adds a removal of randomly drawn elements of a set; the answer contains them ({@link
   * Reading#asList}).
   *
   * @param count how many elements to remove at most, 1 or more
   */
  public Program take(String key, CrdtType type, int count) {
    long seed = access.session().client().timers().newId().getLeastSignificantBits();
    return add(new Call.Take(Key.of(key), type, count, seed));
  }

  /** Adds a time to live for a key, given only if the key's present deadline meets a condition. */
  public Program expireIf(String key, Duration timeToLive, Call.When when) {
    return add(new Call.ExpireIf(Key.of(key), Deadlines.after(timeToLive), when));
  }

  /** Adds a test: nothing is done unless the key exists before the program. */
  public Program ifExists(String key) {
    return test(Key.of(key), Optional.empty(), exists(true));
  }

  /** Adds a test: nothing is done if the key exists before the program. */
  public Program ifAbsent(String key) {
    return test(Key.of(key), Optional.empty(), exists(false));
  }

  private static Request.Condition exists(boolean expected) {
    return new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(expected));
  }

  /**
   * Adds a test: nothing is done unless the condition holds before the program.
   *
   * @param type the object's type; empty for whatever the key holds
   */
  public Program test(Key key, Optional<CrdtType> type, Request.Condition condition) {
    return add(new Call.Test(key, type, condition));
  }

  /**
   * Adds a guard: nothing is done unless the key has this version. One of the calls must be about
   * the key. The datacenter compares with what is visible there, so this is no lock across
   * datacenters.
   *
   * @param version the {@link Answer#version} of a {@link #version(String)} call
   */
  public Program ifUnchanged(String key, VersionVector version) {
    guards.add(new Call.Guard(Key.of(key), version));
    return this;
  }

  /**
   * Sends the program, and waits for its result.
   *
   * @throws OsierException if nothing was done, for example INVALID_ARGUMENT if the keys are of
   *     several partitions; {@link OutcomeUnknownException} if the program may have been done
   */
  public Result run() {
    return Calls.join(runAsync());
  }

  /** As {@link #run}. */
  public CompletableFuture<Result> runAsync() {
    return ProgramCall.run(access.session(), access.keyspace(), calls, guards);
  }

  /**
   * The result of a program.
   *
   * @param held whether all tests and guards held; otherwise nothing was done
   * @param answers the answer to each of its calls, in their order
   */
  public record Result(boolean held, List<Answer> answers) {
    public Result {
      answers = List.copyOf(answers);
    }

    /**
     * Returns what a call has read.
     *
     * @param call the call's number, from 0
     * @throws OsierException the call's error, if it failed
     */
    public Found found(int call) {
      return answer(call).found();
    }

    /**
     * Returns whether a call has changed something.
     *
     * @param call the call's number, from 0
     * @throws OsierException the call's error, if it failed
     */
    public boolean isDone(int call) {
      return answer(call).isDone();
    }

    private Answer answer(int call) {
      if (call < 0 || call >= answers.size()) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "the program has " + answers.size() + " calls, counted from 0; there is no " + call);
      }
      return answers.get(call);
    }
  }

  /**
   * The answer to one call.
   *
   * @param done whether the call has changed something
   * @param read what the call has read; empty if it asked for nothing
   * @param version the version of the key that the call has seen
   * @param error why the call failed; empty if it did not
   */
  public record Answer(
      boolean done, Optional<Found> read, VersionVector version, Optional<OsierException> error) {
    /**
     * Returns what the call has read.
     *
     * @throws OsierException the call's error, if it failed; INVALID_ARGUMENT if it has read
     *     nothing
     */
    public Found found() {
      check();
      return read.orElseThrow(
          () ->
              OsierException.of(
                  ErrorCode.INVALID_ARGUMENT, "this call has no answer: it has not read anything"));
    }

    /**
     * Returns whether the call has changed something.
     *
     * @throws OsierException the call's error, if it failed
     */
    public boolean isDone() {
      check();
      return done;
    }

    private void check() {
      if (error.isPresent()) {
        throw error.get();
      }
    }
  }
}
