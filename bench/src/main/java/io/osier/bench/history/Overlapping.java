package io.osier.bench.history;

import static java.util.Objects.requireNonNull;

import io.osier.bench.history.History.Op;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A session's calls that do not wait for each other. None of them comes before another, so each is
 * recorded in a session of its own. The next group of calls continues these sessions, and comes
 * after all calls of this group.
 */
final class Overlapping {
  /** The number of calls in a group. */
  static final int CALLS = 3;

  /** A call in flight, whose result is its reads and writes. */
  private record Call(List<Op> writes, CompletableFuture<List<Op>> result) {}

  private final Recorder recorder;
  private final Random random;
  private final int[] sessions = new int[CALLS];

  Overlapping(Recorder recorder, Random random) {
    this.recorder = recorder;
    this.random = random;
  }

  /**
   * Makes a group of calls and waits for all of them.
   *
   * @param keys the registers of each call
   * @param before the transactions that the calls come after
   * @return the numbers of the calls as transactions
   */
  List<Integer> run(Session session, List<List<Integer>> keys, List<Integer> before) {
    Keyspace keyspace = session.keyspace(Registers.KEYSPACE);
    List<Call> calls = keys.stream().map(some -> call(keyspace, some)).toList();
    List<Integer> done = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      Call call = calls.get(i);
      if (sessions[i] == 0) {
        sessions[i] = recorder.newSession();
      }
      try {
        List<Op> ops = call.result.join();
        done.add(recorder.add(sessions[i], ops, before, session.datacenter().orElse("")));
      } catch (CompletionException e) {
        switch (requireNonNull(e.getCause(), "what failed has a cause")) {
          case OutcomeUnknownException unknown -> {
            recorder.unknown(sessions[i], call.writes, before);
            sessions[i] = 0;
          }
          case OsierException refused -> recorder.failed(refused);
          default -> throw e;
        }
      }
    }
    return done;
  }

  private Call call(Keyspace keyspace, List<Integer> keys) {
    int key = keys.getFirst();
    if (random.nextBoolean()) {
      CompletableFuture<List<Op>> reads =
          keys.size() > 1
              ? keyspace
                  .readTogetherAsync(Registers.gets(keys))
                  .thenApply(found -> Registers.reads(keys, found))
              : keyspace
                  .readAsync(Registers.key(key), Registers.TYPE, Registers.WHOLE)
                  .thenApply(found -> List.of(Registers.read(key, found)));
      return new Call(List.of(), reads);
    }
    List<Op> writes = keys.stream().map(k -> new Op(true, k, recorder.newValue())).toList();
    CompletableFuture<Void> done =
        writes.size() > 1
            ? keyspace.updateTogetherAsync(writes.stream().map(Registers::change).toList())
            : keyspace.updateAsync(
                Registers.key(key),
                CrdtType.LWW_REGISTER,
                Registers.assign(writes.getFirst().value()));
    return new Call(writes, done.thenApply(v -> writes));
  }
}
