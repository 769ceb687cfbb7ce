package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.words.ObjectCommand;
import io.osier.datacenter.words.Words;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Program;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;

/** A program that is entered line by line, and the rendering of its answers. Not thread-safe. */
final class CliProgram {
  /** The text for a key that holds nothing. */
  static final String NOTHING = "(nothing)";

  /** The answer to a line that is not done yet. */
  static final String NOTED_JSON = "{\"done\":false}";

  private static final Query.Exists EXISTS = new Query.Exists();

  private final Program program;
  private final boolean asJson;
  private final List<Noted> noted = new ArrayList<>();
  private boolean failed;

  /** How many calls the program has. */
  private int calls;

  /** A line of the program, with the number of its answer. */
  private record Noted(Grammar.Action action, int call) {}

  CliProgram(Program program, boolean asJson) {
    this.program = program;
    this.asJson = asJson;
  }

  /**
   * Adds a command to the program.
   *
   * @throws OsierException INVALID_ARGUMENT if the command cannot be part of a program, which is
   *     then unchanged
   */
  String note(Grammar.Action action) {
    switch (action) {
      case Grammar.Update(ObjectCommand.Update u) -> {
        u.condition()
            .ifPresent(
                condition -> {
                  program.test(u.key(), Optional.of(u.type()), condition);
                  calls++;
                });
        program.update(u.key(), u.type(), u.operation(), u.ask());
      }
      case Grammar.Read r -> program.read(r.key(), r.type(), r.query());
      case Grammar.Exists e -> program.read(e.key(), Optional.empty(), EXISTS);
      case Grammar.Type t -> program.read(t.key(), Optional.empty(), EXISTS);
      case Grammar.Delete d when d.keys().size() == 1 ->
          updateKey(d.keys().getFirst(), new Operation.Delete());
      case Grammar.Delete d ->
          throw Words.bad("in a program 'del' takes one key: write a line for each");
      case Grammar.Expire e -> updateKey(e.key(), deadline(e));
      case Grammar.Persist p -> updateKey(p.key(), new Operation.Persist());
      case Grammar.TimeToLive t ->
          program.read(Key.of(t.key()), Optional.empty(), new Query.TimeToLive());
      case Grammar.Move m when m.copies() -> program.copy(m.from(), m.to());
      case Grammar.Move m -> program.rename(m.from(), m.to());
      default ->
          throw Words.bad(
              "in a program only updates, get, exists, type, del, rename, copy, expire, persist and"
                  + " ttl are allowed; 'run' sends the program that was begun, 'abort' drops it");
    }
    noted.add(new Noted(action, calls++));
    return asJson ? NOTED_JSON : "noted; run sends it";
  }

  private void updateKey(String key, Operation operation) {
    program.update(Key.of(key), Operation.ANY_TYPE, operation, Optional.empty());
  }

  private static Operation deadline(Grammar.Expire e) {
    return e.after().isPresent()
        ? Words.after(e.after().get())
        : new Operation.Expire(e.at().orElseThrow().toEpochMilli(), false);
  }

  /**
   * Runs the program, and returns the answers to its commands, in their order.
   *
   * @throws OsierException if nothing was done, or the outcome is unknown
   */
  String run() {
    Program.Result result = program.run();
    failed = result.answers().stream().anyMatch(answer -> answer.error().isPresent());
    if (asJson) {
      ObjectNode node = JsonNodeFactory.instance.objectNode().put("held", result.held());
      ArrayNode answers = node.putArray("answers");
      noted.forEach(n -> answers.add(json(n, result)));
      return node.toString();
    }
    if (!result.held()) {
      return "not done: the object is not as expected";
    }
    StringJoiner lines = new StringJoiner("\n");
    for (int i = 0; i < noted.size(); i++) {
      lines.add((i + 1) + ": " + text(noted.get(i), result));
    }
    return lines.toString();
  }

  /** Returns whether the program was run and one of its calls has failed. */
  boolean hasFailed() {
    return failed;
  }

  private static String text(Noted line, Program.Result result) {
    Program.Answer answer = result.answers().get(line.call);
    if (answer.error().isPresent()) {
      return new Answers(false, false).error(answer.error().get());
    }
    Optional<Reading> reading = answer.read().flatMap(found -> shown(line.action, found));
    return switch (line.action) {
      case Grammar.Exists e -> Boolean.toString(answer.found().exists());
      case Grammar.Type t -> answer.found().type().map(CrdtType::label).orElse(NOTHING);
      case Grammar.TimeToLive t -> left(reading);
      case Grammar.Persist p -> answer.done() ? "done" : "it does not expire";
      case Grammar.Read r -> reading.map(ReadingFormat::text).orElse(NOTHING);
      case Grammar.Update u -> reading.map(ReadingFormat::text).orElse("done");
      default -> answer.done() ? "done" : NOTHING;
    };
  }

  private static Optional<Reading> shown(Grammar.Action action, Keyspace.Found found) {
    return action instanceof Grammar.Update(ObjectCommand.Update u)
        ? found.reading().map(u::shown)
        : found.reading();
  }

  private static String left(Optional<Reading> reading) {
    Optional<Duration> left =
        reading.map(Reading::asLong).filter(millis -> millis >= 0).map(Duration::ofMillis);
    return new Answers(false, false).timeToLive(left, reading::isPresent);
  }

  private static ObjectNode json(Noted line, Program.Result result) {
    Program.Answer answer = result.answers().get(line.call);
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    if (answer.error().isPresent()) {
      OsierException e = answer.error().get();
      return node.put("error", e.code().name()).put("message", e.reason());
    }
    node.put("done", answer.done());
    answer
        .read()
        .ifPresent(
            found -> {
              found.type().ifPresent(type -> node.put("type", type.label()));
              node.put("exists", found.exists());
              shown(line.action, found).ifPresent(r -> node.set("value", ReadingFormat.json(r)));
            });
    return node;
  }
}
