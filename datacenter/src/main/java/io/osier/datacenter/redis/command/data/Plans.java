package io.osier.datacenter.redis.command.data;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The requests, calls and plans that commands are translated into. Static, for any thread. */
public final class Plans {
  /** How often a command begins again because others have changed its keys in between. */
  static final int TRIES_MAX = 100;

  static final Query WHOLE = new Query.Whole();
  static final Query EXISTS = new Query.Exists();
  static final Query SIZE = new Query.Size();
  static final Query TIME_TO_LIVE = new Query.TimeToLive();
  static final Query DEADLINE = new Query.Deadline(Optional.empty());

  private Plans() {}

  static Plan error(String text) {
    return new Plan.Answer(new RespValue.Err(text));
  }

  // ------------------------------------------------------------------------------- requests

  static Request.Read read(Scope scope, Key key, Query query) {
    return new Request.Read(
        scope.database().keyspace(key),
        key,
        Optional.empty(),
        query,
        VersionVector.EMPTY,
        false,
        0);
  }

  static Request write(Scope scope, Key key, CrdtType type, Operation operation) {
    return write(scope, key, type, operation, Optional.empty(), Optional.empty());
  }

  /**
   * Returns an update that is answered with a reading.
   *
   * @param before whether that is read before the update, or after it
   */
  static Request write(
      Scope scope, Key key, CrdtType type, Operation operation, boolean before, Query query) {
    Request.Ask ask = new Request.Ask(before, query);
    return write(scope, key, type, operation, Optional.of(ask), Optional.empty());
  }

  /** Returns an update that is done only if an object reads as expected. */
  static Request writeIf(
      Scope scope, Key key, CrdtType type, Operation operation, Query query, Reading expected) {
    Request.Condition condition = new Request.Condition(List.of(), query, expected);
    return write(scope, key, type, operation, Optional.empty(), Optional.of(condition));
  }

  private static Request write(
      Scope scope,
      Key key,
      CrdtType type,
      Operation operation,
      Optional<Request.Ask> ask,
      Optional<Request.Condition> condition) {
    String keyspace = scope.database().keyspace(key);
    return new Request.Write(
        keyspace, key, type, operation, VersionVector.EMPTY, 0, ask, condition);
  }

  /** Returns a program; the keys of its calls must be in one place. */
  static Request program(Scope scope, List<? extends Call> calls, List<Call.Guard> guards) {
    return new Request.Evaluate(
        scope.database().keyspace(calls.getFirst().key()),
        List.copyOf(calls),
        guards,
        VersionVector.EMPTY,
        0);
  }

  // ---------------------------------------------------------------------------------- calls

  static Call readCall(Key key, Query query) {
    return new Call.Read(key, Optional.empty(), query);
  }

  static Call update(Key key, CrdtType type, Operation operation) {
    return new Call.Update(key, type, operation, Optional.empty());
  }

  static Call update(Key key, CrdtType type, Operation operation, boolean before, Query query) {
    return new Call.Update(key, type, operation, Optional.of(new Request.Ask(before, query)));
  }

  /** Returns a call that deletes everything that a key holds. */
  static Call delete(Key key) {
    return update(key, Operation.ANY_TYPE, new Operation.Delete());
  }

  static Call test(Key key, Optional<CrdtType> type, Query query, Reading expected) {
    return new Call.Test(key, type, new Request.Condition(List.of(), query, expected));
  }

  static Call testAbsent(Key key) {
    return test(key, Optional.empty(), EXISTS, new Reading.Flag(false));
  }

  static Call testExists(Key key, CrdtType type) {
    return test(key, Optional.of(type), EXISTS, new Reading.Flag(true));
  }

  // ---------------------------------------------------------------------------------- plans

  /** Sends one request; a failure becomes the answer. */
  public static Plan ask(Request request, Function<Reply, Plan> then) {
    return ask(request, then, failure -> new Plan.Answer(RedisErrors.of(failure)));
  }

  public static Plan ask(
      Request request, Function<Reply, Plan> then, Function<Reply.Failure, Plan> failed) {
    return new Plan.Ask(
        List.of(request),
        replies ->
            replies.getFirst() instanceof Reply.Failure failure
                ? failed.apply(failure)
                : then.apply(replies.getFirst()));
  }

  /** Sends several requests side by side; the first failure becomes the answer. */
  static Plan askAll(List<Request> requests, Function<List<Reply>, Plan> then) {
    return new Plan.Ask(
        requests,
        replies -> {
          boolean none = replies.stream().allMatch(Reply.Failure.class::isInstance);
          for (Reply reply : replies) {
            if (reply instanceof Reply.Failure failure) {
              return new Plan.Answer(none ? RedisErrors.of(failure) : RedisErrors.ofPart(failure));
            }
          }
          return then.apply(replies);
        });
  }

  /** Reads a key, of whatever type. */
  public static Plan read(
      Scope scope, Key key, Query query, Function<Reply.Answer, RespValue> then) {
    return ask(read(scope, key, query), reply -> new Plan.Answer(then.apply((Reply.Answer) reply)));
  }

  /** Reads a string; it has no bytes if the key is absent. */
  static Plan readString(Scope scope, Key key, Function<byte[], RespValue> then) {
    return read(scope, key, WHOLE, answer -> then.apply(Texts.stringBytes(answer)));
  }

  /**
   * Answers how many elements or fields an object has, 0 if there is none.
   *
   * @param kind the types that it may have; another one is the error WRONGTYPE
   */
  static Plan size(Scope scope, byte[][] words, Predicate<CrdtType> kind) {
    return read(
        scope,
        Key.of(words[1]),
        SIZE,
        answer -> {
          Texts.check(answer, kind);
          return new RespValue.Int(answer.exists() ? answer.reading().orElseThrow().asLong() : 0);
        });
  }

  /**
   * Reads whole keys, which must be of one partition, in one turn: an answer or a failure for each.
   */
  static Plan readAll(Scope scope, List<Key> keys, Function<List<Reply>, Plan> then) {
    checkOnePartition(scope, keys);
    return reads(scope, keys.stream().map(key -> readCall(key, WHOLE)).toList(), then);
  }

  /** Runs a program of calls that change nothing. */
  static Plan reads(Scope scope, List<Call> calls, Function<List<Reply>, Plan> then) {
    checkCalls(calls.size());
    return ask(
        program(scope, calls, List.of()), reply -> then.apply(((Reply.Evaluated) reply).parts()));
  }

  static Plan run(Scope scope, List<Call> calls, Function<List<Reply>, Plan> then) {
    return run(scope, calls, then, parts -> error(RedisErrors.BUSY));
  }

  /**
   * Runs calls in one turn; the first failure of one becomes the answer.
   *
   * @param unheld what follows if a test or guard did not hold, so that nothing was done
   */
  static Plan run(
      Scope scope,
      List<Call> calls,
      Function<List<Reply>, Plan> then,
      Function<List<Reply>, Plan> unheld) {
    return run(scope, calls, List.of(), then, unheld);
  }

  static Plan run(
      Scope scope,
      List<Call> calls,
      List<Call.Guard> guards,
      Function<List<Reply>, Plan> then,
      Function<List<Reply>, Plan> unheld) {
    checkCalls(calls.size());
    return ask(
        program(scope, calls, guards),
        reply -> {
          Reply.Evaluated done = (Reply.Evaluated) reply;
          if (!done.held()) {
            return unheld.apply(done.parts());
          }
          done.parts().forEach(Plans::checkDone);
          return then.apply(done.parts());
        });
  }

  static void checkCalls(long calls) {
    if (calls > Request.PROGRAM_MAX) {
      throw new RedisException(
          "ERR too many keys at once: at most " + Request.PROGRAM_MAX + " in one partition");
    }
  }

  /** Begins a command again, or answers an error if it has begun too often. */
  static Plan retried(int tries, IntFunction<Plan> again) {
    return tries >= TRIES_MAX ? error(RedisErrors.BUSY) : again.apply(tries + 1);
  }

  /**
   * Runs a program that needs a key to hold an object of a kind: at first as if the object were of
   * the usual type, and if it is not, of the type that it has.
   *
   * @param calls the calls for an object of a type; nothing is done unless the key holds one
   * @param then what follows from the answers to those calls
   * @param absent what follows if the key holds nothing; it may run its parameter to begin again
   */
  static Plan present(
      Scope scope,
      Key key,
      CrdtType usual,
      Predicate<CrdtType> kind,
      Function<CrdtType, List<Call>> calls,
      Function<List<Reply>, Plan> then,
      Function<Supplier<Plan>, Plan> absent) {
    return present(scope, key, usual, kind, calls, then, absent, 0);
  }

  private static Plan present(
      Scope scope,
      Key key,
      CrdtType type,
      Predicate<CrdtType> kind,
      Function<CrdtType, List<Call>> calls,
      Function<List<Reply>, Plan> then,
      Function<Supplier<Plan>, Plan> absent,
      int tries) {
    List<Call> all = new ArrayList<>();
    all.add(testExists(key, type));
    all.add(readCall(key, EXISTS));
    all.addAll(calls.apply(type));
    return ask(
        program(scope, all, List.of()),
        reply -> {
          Reply.Evaluated done = (Reply.Evaluated) reply;
          if (done.held()) {
            return then.apply(done.parts().subList(2, done.parts().size()));
          }
          if (!(done.parts().get(1) instanceof Reply.Answer found)) {
            return new Plan.Answer(RedisErrors.of((Reply.Failure) done.parts().get(1)));
          }
          if (!found.exists()) {
            return absent.apply(
                () -> retried(tries, n -> present(scope, key, type, kind, calls, then, absent, n)));
          }
          CrdtType other = found.type().orElseThrow();
          if (!kind.test(other)) {
            throw RedisErrors.wrongType();
          }
          return retried(tries, n -> present(scope, key, other, kind, calls, then, absent, n));
        });
  }

  /**
   * Updates an object of a kind: at first as if it were of the usual type, and if it is not, of the
   * type that it has.
   *
   * @param request returns the update for an object of a type
   */
  static Plan update(
      Scope scope,
      Key key,
      CrdtType usual,
      Function<CrdtType, Request> request,
      Function<Reply, Plan> then,
      Predicate<CrdtType> kind) {
    return ask(
        request.apply(usual),
        then,
        failure ->
            failure.code() == ErrorCode.WRONG_TYPE
                ? ofType(scope, key, kind, type -> ask(request.apply(type), then))
                : new Plan.Answer(RedisErrors.of(failure)));
  }

  /**
   * Finds the type of a key and goes on with it. An absent key, or one of another kind, is the
   * error WRONGTYPE.
   */
  static Plan ofType(
      Scope scope, Key key, Predicate<CrdtType> kind, Function<CrdtType, Plan> then) {
    return ask(
        read(scope, key, EXISTS),
        reply -> {
          Optional<CrdtType> type = ((Reply.Answer) reply).type();
          if (type.isEmpty() || !kind.test(type.get())) {
            throw RedisErrors.wrongType();
          }
          return then.apply(type.get());
        });
  }

  /** Returns the reading that an update was answered with. */
  static Reading asked(Reply reply) {
    Reply.Answer answer =
        reply instanceof Reply.Done done ? done.answer().orElseThrow() : (Reply.Answer) reply;
    return answer.reading().orElseThrow();
  }

  /**
   * Checks that all keys are in one partition of one home.
   *
   * @throws RedisException CROSSSLOT if they are not
   */
  static void checkOnePartition(Scope scope, List<Key> keys) {
    if (!scope.database().isOnePlace()) {
      Database.Place first = scope.database().place(keys.getFirst());
      for (Key key : keys) {
        if (!scope.database().place(key).equals(first)) {
          throw new RedisException(RedisErrors.OTHER_SLOT);
        }
      }
    }
  }

  static void checkDone(Reply reply) {
    if (reply instanceof Reply.Failure failure) {
      throw new RedisException(RedisErrors.of(failure).text());
    }
  }

  static Reply.Answer answerOf(Reply reply) {
    checkDone(reply);
    return (Reply.Answer) reply;
  }
}
