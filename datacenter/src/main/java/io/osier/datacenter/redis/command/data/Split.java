package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Splits commands of many keys into a program for each partition of each home. Static, for any
 * thread.
 */
final class Split {
  private Split() {}

  /** Runs a call for each key; {@code then} gets the answers in the order of the keys. */
  static Plan of(
      Scope scope, List<Key> keys, Function<Key, Call> call, Function<List<Reply>, Plan> then) {
    return of(scope, keys.stream().map(call).toList(), then);
  }

  /**
   * Runs calls of one key each; those of a partition keep their order.
   *
   * @param then is given the answers in the order of the calls; the first failure becomes the
   *     answer to the command
   */
  static Plan of(Scope scope, List<Call> calls, Function<List<Reply>, Plan> then) {
    if (scope.database().isOnePlace() && calls.size() <= Request.PROGRAM_MAX) {
      return Plans.ask(
          Plans.program(scope, calls, List.of()),
          reply -> {
            List<Reply> parts = ((Reply.Evaluated) reply).parts();
            parts.forEach(Plans::checkDone);
            return then.apply(parts);
          });
    }
    Map<Database.Place, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < calls.size(); i++) {
      places
          .computeIfAbsent(scope.database().place(calls.get(i).key()), p -> new ArrayList<>())
          .add(i);
    }
    List<List<Integer>> parts = new ArrayList<>();
    for (List<Integer> of : places.values()) {
      for (int from = 0; from < of.size(); from += Request.PROGRAM_MAX) {
        parts.add(of.subList(from, Math.min(of.size(), from + Request.PROGRAM_MAX)));
      }
    }
    List<Request> requests =
        parts.stream()
            .map(part -> Plans.program(scope, part.stream().map(calls::get).toList(), List.of()))
            .toList();
    return Plans.askAll(
        requests,
        replies -> {
          Reply[] answers = new Reply[calls.size()];
          for (int p = 0; p < parts.size(); p++) {
            List<Reply> done = ((Reply.Evaluated) replies.get(p)).parts();
            for (int i = 0; i < done.size(); i++) {
              Plans.checkDone(done.get(i));
              answers[parts.get(p).get(i)] = done.get(i);
            }
          }
          return then.apply(Arrays.asList(answers));
        });
  }
}
