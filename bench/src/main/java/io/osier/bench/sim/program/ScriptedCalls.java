package io.osier.bench.sim.program;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls that a script does step by step; after some of them a further step reads what they made.
 */
final class ScriptedCalls {
  private static final long BYTES = 1_000;

  private final String keyspace;
  private final List<Call> calls;
  private final List<Reply> answers = new ArrayList<>();
  private @Nullable String fault;

  ScriptedCalls(String keyspace, List<Call> calls) {
    this.keyspace = keyspace;
    this.calls = List.copyOf(calls);
  }

  /** Returns the script that does the calls. */
  Call.Script script() {
    Set<Key> keys = new LinkedHashSet<>();
    calls.forEach(call -> keys.addAll(call.keys()));
    return new Call.Script(List.copyOf(keys), true, BYTES, this::run);
  }

  private void run(Function<Request, Reply> ask) {
    for (Call call : calls) {
      Reply reply = ask.apply(program(call));
      answers.add(reply instanceof Reply.Evaluated e ? e.parts().getFirst() : reply);
      if (call instanceof Call.Update u && u.operation() instanceof Operation.Add add) {
        look(ask, u, new Query.Contains(add.elements().getFirst()), new Reading.Flag(true));
      } else if (call instanceof Call.Update u && u.operation() instanceof Operation.Assign a) {
        look(ask, u, new Query.Whole(), new Reading.Single(Optional.of(a.value())));
      }
    }
  }

  private Request program(Call call) {
    return new Request.Evaluate(keyspace, List.of(call), List.of(), VersionVector.EMPTY, 0);
  }

  /** Checks that a step sees what the step before it has made. */
  private void look(Function<Request, Reply> ask, Call.Update made, Query query, Reading expected) {
    Reply seen =
        ask.apply(
            new Request.Read(
                keyspace,
                made.key(),
                Optional.of(made.type()),
                query,
                VersionVector.EMPTY,
                false,
                0));
    boolean right = seen instanceof Reply.Answer a && a.reading().equals(Optional.of(expected));
    if (!right) {
      fault = "after " + made + " the next step is answered " + seen;
    }
  }

  /** What is wrong with what the steps were answered; null if nothing. */
  @Nullable String fault() {
    return fault;
  }

  /** The answers to the calls, once they were done; none before. */
  List<Reply> answers() {
    return List.copyOf(answers);
  }
}
