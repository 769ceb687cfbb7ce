package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Makes something of what several keys of one partition hold: reads them, and does what follows
 * from that if they still are what was read; else it begins again. Static, for any thread.
 */
final class Derived {
  /** What follows; there is nothing to do if there are no calls. */
  record Result(List<Call> calls, RespValue answer) {}

  private Derived() {}

  /**
   * Of keys, of which each may be given several times.
   *
   * @param to where the result goes
   * @param read what is read of each
   * @param result of what was read of each, in their order; may throw
   */
  static Plan of(
      Scope scope,
      Key to,
      List<Key> keys,
      Function<Key, Call> read,
      Function<List<Reply>, Result> result) {
    List<Key> all = new ArrayList<>(keys);
    all.add(to);
    Plans.checkOnePartition(scope, all);
    return of(scope, keys, read, result, 0);
  }

  private static Plan of(
      Scope scope,
      List<Key> keys,
      Function<Key, Call> read,
      Function<List<Reply>, Result> result,
      int tries) {
    List<Call> calls = new ArrayList<>(2 * keys.size());
    for (Key key : keys) {
      calls.add(read.apply(key));
      calls.add(new Call.Version(key));
    }
    return Plans.reads(
        scope,
        calls,
        parts -> {
          List<Reply> answers = new ArrayList<>(keys.size());
          Map<Key, Call.Guard> guards = new LinkedHashMap<>();
          for (int i = 0; i < keys.size(); i++) {
            Key key = keys.get(i);
            answers.add(Plans.answerOf(parts.get(2 * i)));
            guards.put(key, new Call.Guard(key, Plans.answerOf(parts.get(2 * i + 1)).seen()));
          }
          Result made = result.apply(answers);
          if (made.calls().isEmpty()) {
            return Plan.answer(made.answer());
          }
          List<Call> then = new ArrayList<>(made.calls());
          guards.keySet().forEach(key -> then.add(new Call.Version(key)));
          return Plans.run(
              scope,
              then,
              List.copyOf(guards.values()),
              done -> Plan.answer(made.answer()),
              done -> Plans.retried(tries, n -> of(scope, keys, read, result, n)));
        });
  }
}
