package io.osier.proxy.call;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Call.Guard;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Program;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Sends a program, to the partition of its first key. */
public final class ProgramCall extends Call<Program.Result> {
  private final List<io.osier.protocol.Call> calls;
  private final List<Guard> guards;
  private final Set<Key> keys = new HashSet<>();

  private ProgramCall(
      SessionCore session,
      String keyspace,
      List<io.osier.protocol.Call> calls,
      List<Guard> guards,
      boolean update) {
    super(session, keyspace, calls.getFirst().key(), update);
    this.calls = List.copyOf(calls);
    this.guards = List.copyOf(guards);
    this.calls.forEach(call -> keys.addAll(call.keys()));
  }

  public static CompletableFuture<Program.Result> run(
      SessionCore session,
      String keyspace,
      List<io.osier.protocol.Call> calls,
      List<Guard> guards) {
    OsierException wrong = ArgumentChecks.program(calls);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    boolean update = calls.stream().anyMatch(io.osier.protocol.Call::isUpdate);
    ProgramCall call = new ProgramCall(session, keyspace, calls, guards, update);
    call.invalidate();
    return call.start();
  }

  @Override
  protected String home(Homes homes) {
    List<Key> all = new ArrayList<>();
    calls.forEach(call -> all.addAll(call.keys()));
    guards.forEach(guard -> all.add(guard.key()));
    return homes.one(keyspace, "a program", all);
  }

  private void invalidate() {
    if (update) {
      keys.forEach(key -> session.cache().invalidate(keyspace, key));
    }
  }

  @Override
  protected Request request(VersionVector after, boolean ordered, int waitMillis) {
    return new Request.Evaluate(keyspace, calls, guards, after, waitMillis);
  }

  @Override
  protected Program.Result result(Reply reply) {
    invalidate();
    Reply.Evaluated evaluated = (Reply.Evaluated) reply;
    if (evaluated.parts().size() != calls.size()) {
      throw Calls.unexpected(reply);
    }
    List<Program.Answer> answers = new ArrayList<>(calls.size());
    evaluated.parts().forEach(part -> answers.add(toAnswer(part)));
    return new Program.Result(evaluated.held(), answers);
  }

  private static Program.Answer toAnswer(Reply part) {
    return switch (part) {
      case Reply.Done d ->
          new Program.Answer(
              true, d.answer().map(Conversion::found), VersionVector.EMPTY, Optional.empty());
      case Reply.Answer a ->
          new Program.Answer(false, Optional.of(Conversion.found(a)), a.seen(), Optional.empty());
      case Reply.Failure f ->
          new Program.Answer(
              false,
              Optional.empty(),
              VersionVector.EMPTY,
              Optional.of(OsierException.of(f.code(), f.message())));
      default -> throw Calls.unexpected(part);
    };
  }
}
