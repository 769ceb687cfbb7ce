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
 * Reads and updates of objects of one partition that its datacenter does in one turn: nothing there
 * comes between them, each sees what those before it have made, and what they change becomes
 * visible together there; in a {@code causal} keyspace everywhere, in a {@code session} one
 * elsewhere object by object. What another datacenter does at the same time is merged with it, as
 * always.
 *
 * <pre>{@code
 * Program.Result done = shop.program()
 *     .ifAbsent("lock:7")
 *     .update(batch -> batch.register("lock:7").assign("ada"))
 *     .read("stock:7")
 *     .run();
 * }</pre>
 *
 * <p>It has 1 to {@link Request#PROGRAM_MAX} calls. A call that fails leaves the others done, and
 * its error is its answer; where a test or a guard does not hold, nothing is done. It is never sent
 * again to who may have done it: {@link OutcomeUnknownException}. None of its calls waits for
 * rights of a bounded counter. Not thread-safe; it may be run again, and then is another program.
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

  /** Reads whatever a key holds. */
  public Program read(String key) {
    return read(Key.of(key), Optional.empty(), new Query.Whole());
  }

  /**
   * Reads an object with any query.
   *
   * @param type empty for whatever the key holds
   */
  public Program read(Key key, Optional<CrdtType> type, Query query) {
    return add(new Call.Read(key, type, query));
  }

  /** Reads the version of a key, for {@link #ifUnchanged} of a later program. */
  public Program version(String key) {
    return add(new Call.Version(Key.of(key)));
  }

  /**
   * Updates, written as calls of handles: a call of the program for each.
   *
   * @param writes is called at once, in this thread
   */
  public Program update(Consumer<Batch> writes) {
    Batch.written(access.values(), writes)
        .forEach(c -> add(new Call.Update(c.key(), c.type(), c.operation(), Optional.empty())));
    return this;
  }

  /**
   * Updates an object with any operation, or a key.
   *
   * @param ask what to know with it; empty for nothing
   */
  public Program update(Key key, CrdtType type, Operation operation, Optional<Request.Ask> ask) {
    return add(new Call.Update(key, type, operation, ask));
  }

  /** Updates an object with any operation, and reads it as that has left it. */
  public Program updateAndRead(String key, CrdtType type, Operation operation) {
    Request.Ask ask = new Request.Ask(false, new Query.Whole());
    return update(Key.of(key), type, operation, Optional.of(ask));
  }

  /**
   * Makes the object of this type, cleared and updated, all that a key holds.
   *
   * @param keepsDeadline whether the key's deadline stays; otherwise it has none then, but one that
   *     the operation gives
   */
  public Program replace(String key, CrdtType type, Operation operation, boolean keepsDeadline) {
    return add(new Call.Replace(Key.of(key), type, operation, keepsDeadline));
  }

  /**
   * Moves what a key holds, with its deadlines, to another key, in the place of what that holds.
   * Nothing is done, and the answer is what is there of {@code from}, if that does not exist. What
   * is concurrent elsewhere stays under the former name.
   */
  public Program rename(String from, String to) {
    return add(new Call.Rename(Key.of(from), Key.of(to), false));
  }

  /** As {@link #rename}, unless the other key exists. */
  public Program renameIfAbsent(String from, String to) {
    return add(new Call.Rename(Key.of(from), Key.of(to), true));
  }

  /** As {@link #rename}, but the key keeps what it holds. */
  public Program copy(String from, String to) {
    return add(new Call.Copy(Key.of(from), Key.of(to), false));
  }

  /** As {@link #copy}, unless the other key exists. */
  public Program copyIfAbsent(String from, String to) {
    return add(new Call.Copy(Key.of(from), Key.of(to), true));
  }

  /**
   * Removes elements of a set that are drawn; the answer has them ({@link Reading#asList}).
   *
   * @param count at most so many, 1 or more
   */
  public Program take(String key, CrdtType type, int count) {
    long seed = access.session().client().timers().newId().getLeastSignificantBits();
    return add(new Call.Take(Key.of(key), type, count, seed));
  }

  /** Gives a key a time to live if the deadline that it has allows that. */
  public Program expireIf(String key, Duration timeToLive, Call.When when) {
    return add(new Call.ExpireIf(Key.of(key), Deadlines.after(timeToLive), when));
  }

  /** Nothing is done unless the key exists before the program. */
  public Program ifExists(String key) {
    return test(Key.of(key), Optional.empty(), exists(true));
  }

  /** Nothing is done if the key exists before the program. */
  public Program ifAbsent(String key) {
    return test(Key.of(key), Optional.empty(), exists(false));
  }

  private static Request.Condition exists(boolean expected) {
    return new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(expected));
  }

  /**
   * Nothing is done unless this holds before the program.
   *
   * @param type empty for whatever the key holds
   */
  public Program test(Key key, Optional<CrdtType> type, Request.Condition condition) {
    return add(new Call.Test(key, type, condition));
  }

  /**
   * Nothing is done unless the key, which one of the calls must be about, has this version. That is
   * what is visible at the datacenter: it is no lock across datacenters.
   *
   * @param version as {@link Answer#version} told it, of a {@link #version(String)}
   */
  public Program ifUnchanged(String key, VersionVector version) {
    guards.add(new Call.Guard(Key.of(key), version));
    return this;
  }

  /**
   * Sends it, and waits for what becomes of it.
   *
   * @throws OsierException if nothing was done, as INVALID_ARGUMENT of keys of several partitions;
   *     {@link OutcomeUnknownException} if it may have been
   */
  public Result run() {
    return Calls.join(runAsync());
  }

  /** As {@link #run}. */
  public CompletableFuture<Result> runAsync() {
    return ProgramCall.run(access.session(), access.keyspace(), calls, guards);
  }

  /**
   * What became of a program.
   *
   * @param held whether all tests and guards held; otherwise nothing was done
   * @param answers to each of its calls, in their order
   */
  public record Result(boolean held, List<Answer> answers) {
    public Result {
      answers = List.copyOf(answers);
    }

    /**
     * What a call has read.
     *
     * @param call its number, from 0
     * @throws OsierException the call's error, if it failed
     */
    public Found found(int call) {
      return answer(call).found();
    }

    /**
     * Whether a call has changed something.
     *
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
   * What became of a call.
   *
   * @param done whether it has changed something
   * @param read what it has read; empty if nothing was asked
   * @param version what was seen with that
   * @param error why it failed; empty if it did not
   */
  public record Answer(
      boolean done, Optional<Found> read, VersionVector version, Optional<OsierException> error) {
    /**
     * What it has read.
     *
     * @throws OsierException its error, if it failed; INVALID_ARGUMENT if it has read nothing
     */
    public Found found() {
      check();
      return read.orElseThrow(
          () -> OsierException.of(ErrorCode.INVALID_ARGUMENT, "this call has asked for nothing"));
    }

    /**
     * Whether it has changed something.
     *
     * @throws OsierException its error, if it failed
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
