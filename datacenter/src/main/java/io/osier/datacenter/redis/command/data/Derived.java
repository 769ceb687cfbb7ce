package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads objects of one partition and does what follows from them, if they still are what was read;
 * else it reads them again, {@value Plans#TRIES_MAX} times at most. Static, for any thread.
 */
final class Derived {
  /**
   * What follows from what was read.
   *
   * @param calls the program to run; empty if there is nothing to do. A test among them that does
   *     not hold has the command begin again
   * @param guards the versions that keys of the calls must still have, or the command begins again
   * @param answer the command's answer once the program has run
   */
  record Result(List<Call> calls, List<Call.Guard> guards, RespValue answer) {
    Result(List<Call> calls, RespValue answer) {
      this(calls, List.of(), answer);
    }
  }

  private Derived() {}

  /**
   * Makes something of what several keys of one partition hold as a whole.
   *
   * @param to the key that gets the result
   * @param keys the keys that are read, of which each may be given several times
   * @param result returns what follows from the answers, which are in the order of the keys,
   *     without guards: this method adds one for each key; may throw
   */
  static Plan of(Scope scope, Key to, List<Key> keys, Function<List<Reply>, Result> result) {
    List<Key> all = new ArrayList<>(keys);
    all.add(to);
    Plans.checkOnePartition(scope, all);
    List<Call> reads = new ArrayList<>(2 * keys.size());
    for (Key key : keys) {
      reads.add(Plans.readCall(key, Plans.WHOLE));
      reads.add(new Call.Version(key));
    }
    return of(
        scope,
        reads,
        parts -> {
          List<Reply> answers = new ArrayList<>(keys.size());
          Map<Key, Call.Guard> guards = new LinkedHashMap<>();
          for (int i = 0; i < keys.size(); i++) {
            answers.add(Plans.answerOf(parts.get(2 * i)));
            guards.put(keys.get(i), guard(keys.get(i), parts.get(2 * i + 1)));
          }
          Result made = result.apply(answers);
          List<Call> calls = new ArrayList<>(made.calls());
          guards.keySet().forEach(key -> calls.add(new Call.Version(key)));
          return new Result(calls, List.copyOf(guards.values()), made.answer());
        });
  }

  /** A guard that a key still has the version that a {@link Call.Version} was answered with. */
  static Call.Guard guard(Key key, Reply version) {
    return new Call.Guard(key, Plans.answerOf(version).seen());
  }

  /**
   * Reads by a program.
   *
   * @param result returns what follows from the answers to the calls; may throw
   */
  static Plan of(Scope scope, List<Call> reads, Function<List<Reply>, Result> result) {
    Plans.checkCalls(reads.size());
    return of(
        scope,
        Plans.program(scope, reads, List.of()),
        reply -> result.apply(((Reply.Evaluated) reply).parts()),
        0);
  }

  /**
   * Reads one key.
   *
   * @param result returns what follows from the answer; may throw
   */
  static Plan of(Scope scope, Request.Read read, Function<Reply.Answer, Result> result) {
    return of(scope, read, reply -> result.apply((Reply.Answer) reply), 0);
  }

  private static Plan of(Scope scope, Request read, Function<Reply, Result> result, int tries) {
    return Plans.ask(
        read,
        reply -> {
          Result made = result.apply(reply);
          return made.calls().isEmpty()
              ? Plan.answer(made.answer())
              : Plans.run(
                  scope,
                  made.calls(),
                  made.guards(),
                  done -> Plan.answer(made.answer()),
                  unheld -> Plans.retried(tries, n -> of(scope, read, result, n)));
        });
  }
}
