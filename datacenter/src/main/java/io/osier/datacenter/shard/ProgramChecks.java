package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Checks a program for errors before its partition's turn. Pure. */
final class ProgramChecks {
  private ProgramChecks() {}

  /**
   * Returns all keys that a program names.
   *
   * @throws OsierException INVALID_ARGUMENT if it has too many calls or guards, or none, or guards
   *     a key that no call is about
   */
  static Set<Key> keys(Request.Evaluate program) {
    int calls = program.calls().size();
    int guards = program.guards().size();
    if (calls < 1 || calls > Request.PROGRAM_MAX || guards > Request.PROGRAM_MAX) {
      throw wrong(
          "a program has 1 to "
              + Request.PROGRAM_MAX
              + " calls, and at most as many guards, not "
              + calls
              + " and "
              + guards);
    }
    if (calls == 1 && guards == 0) {
      List<Key> only = program.calls().getFirst().keys();
      if (only.size() == 1) {
        return Set.of(only.getFirst());
      }
    }
    Set<Key> keys = new LinkedHashSet<>();
    program.calls().forEach(call -> keys.addAll(call.keys()));
    for (Call.Guard guard : program.guards()) {
      if (!keys.contains(guard.key())) {
        throw wrong(
            "no call of the program is about '" + guard.key() + "', which it guards: read it");
      }
    }
    return keys;
  }

  /**
   * Returns the same program; the steps of its scripts are checked like requests from outside.
   *
   * @param check throws if a call is wrong
   * @param checkUpdate throws if updates are refused
   */
  static Request.Evaluate checked(
      Request.Evaluate program, Consumer<Call> check, Runnable checkUpdate) {
    if (!hasScript(program.calls())) {
      return program;
    }
    List<Call> calls =
        program.calls().stream()
            .map(
                call ->
                    call instanceof Call.Script script
                        ? script.answeredBy(ask -> checked(script, ask, check, checkUpdate))
                        : call)
            .toList();
    return new Request.Evaluate(
        program.keyspace(), calls, program.guards(), program.after(), program.waitMillis());
  }

  private static boolean hasScript(List<Call> calls) {
    for (Call call : calls) {
      if (call instanceof Call.Script) {
        return true;
      }
    }
    return false;
  }

  private static Function<Request, Reply> checked(
      Call.Script script,
      Function<Request, Reply> ask,
      Consumer<Call> check,
      Runnable checkUpdate) {
    Set<Key> named = Set.copyOf(script.keys());
    return step -> {
      try {
        List<Call> calls = calls(step);
        for (Call call : calls) {
          for (Key key : call.keys()) {
            if (!named.contains(key)) {
              throw wrong("a step of a program is about '" + key + "', which it does not name");
            }
          }
          check.accept(call);
        }
        if (!script.isUpdate() && calls.stream().anyMatch(Call::isUpdate)) {
          checkUpdate.run();
        }
        return ask.apply(step);
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    };
  }

  private static List<Call> calls(Request step) {
    return switch (step) {
      case Request.Read r -> List.of(new Call.Read(r.key(), r.type(), r.query()));
      case Request.Write w -> List.of(new Call.Update(w.key(), w.type(), w.operation(), w.ask()));
      case Request.Evaluate e -> e.calls();
      default -> List.of(); // it is refused in its turn
    };
  }

  private static OsierException wrong(String what) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, what);
  }
}
