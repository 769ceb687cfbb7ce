package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.words.ObjectCommand;
import io.osier.datacenter.words.Words;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs parsed commands and renders their results. Not thread-safe. */
public final class CliSession {
  private static final int KEYS_SHOWN = 50;

  /** The launcher's property that says that standard output is a terminal. */
  private static final String TERMINAL = "osier.terminal";

  private final OsierClient client;
  private final CliAdmin admin;
  private final ChosenKeyspace chosen;
  private final Answers answers;

  /** The open transaction; null if there is none. */
  private @Nullable Transaction transaction;

  /** The program that is being entered; null if there is none. */
  private @Nullable CliProgram program;

  private boolean failed;

  public CliSession(
      OsierClient client,
      Session session,
      Optional<String> keyspace,
      boolean asJson,
      NewPasswords newPasswords) {
    this.admin = new CliAdmin(client, newPasswords, asJson);
    this.client = client;
    this.chosen = new ChosenKeyspace(client, session, keyspace);
    this.answers = new Answers(asJson, !Boolean.getBoolean(TERMINAL));
  }

  /**
   * Runs a command, and returns its answer.
   *
   * @throws OsierException if the command fails
   */
  String answer(Grammar.Action action) {
    return ValueText.harmless(outcome(action));
  }

  private String outcome(Grammar.Action action) {
    if (program != null) {
      return inProgram(program, action);
    }
    return switch (action) {
      case Grammar.Update(ObjectCommand.Update u) -> {
        Optional<Reading> reading = shown(u);
        if (reading.isPresent()) {
          String more = transaction != null && u.ask().isEmpty() ? "; commit makes it visible" : "";
          yield answers.done(transaction == null, reading.get(), more);
        }
        if (!isDone(u)) {
          yield answers.flag("done", false, "not done: the object is not as expected");
        }
        yield answers.flag("done", transaction == null, done());
      }
      case Grammar.Transact t -> transact(t);
      case Grammar.Program p -> program(p);
      case Grammar.Move m -> move(m);
      case Grammar.Read r -> found(read(r.key(), r.type(), r.query()));
      case Grammar.Exists e -> {
        boolean exists = find(e.key()).exists();
        yield answers.flag("exists", exists, Boolean.toString(exists));
      }
      case Grammar.Type t -> answers.type(find(t.key()).type());
      case Grammar.Delete d -> delete(d.keys());
      case Grammar.Expire e -> {
        boolean there =
            e.after().isPresent()
                ? space().expireAfter(e.key(), e.after().get())
                : space().expireAt(e.key(), e.at().orElseThrow());
        yield changed("expires", there, "(nothing)");
      }
      case Grammar.Persist p -> changed("persists", space().persist(p.key()), "it does not expire");
      case Grammar.TimeToLive t ->
          answers.timeToLive(space().timeToLive(t.key()), () -> space().exists(t.key()));
      case Grammar.PartTimeToLive t -> timeToLive(t);
      case Grammar.Use u -> use(u);
      case Grammar.Scan s -> scan(s);
      case Grammar.Keys k -> keys(k);
      case Grammar.Count c ->
          answers.count(space().count(c.type().map(c.of()::ofType).orElse(c.of())));
      case Grammar.Inspect i -> admin.inspect(i, chosen.name());
      case Grammar.Why w -> admin.why(w, () -> keyspace().name());
      case Grammar.Administer a ->
          switch (a.subject()) {
            case "dc" -> admin.datacenters(a);
            case "placement" -> admin.placement(a);
            default -> admin.administer(a);
          };
      case Grammar.ManageUser u -> admin.manage(u);
    };
  }

  /** Renders an error for which there is no session. */
  public static String error(OsierException e, boolean asJson) {
    return new Answers(asJson, false).error(e);
  }

  Answers answers() {
    return answers;
  }

  /**
   * Returns the prompt: datacenter and keyspace, and a star while a transaction or program is open.
   */
  String prompt() {
    return client.nearest().orElse("osier")
        + chosen.nameOrOnly().map(name -> "/" + name).orElse("")
        + (transaction == null && program == null ? "> " : "*> ");
  }

  /**
   * Does an update that shows its object, and returns the reading; empty if the update shows
   * nothing and was not done yet.
   */
  private Optional<Reading> shown(ObjectCommand.Update update) {
    if (update.ask().isPresent()) {
      return update.ask().map(ask -> updated(update, ask));
    }
    if (!update.isCounting()) {
      return Optional.empty();
    }
    try {
      return Optional.of(updated(update, new Request.Ask(false, new Query.Whole())));
    } catch (OsierException e) {
      if (e.code() == ErrorCode.FORBIDDEN) {
        return Optional.empty(); // the user may update, but perhaps not read
      }
      throw e;
    }
  }

  /** Does an update, and returns the reading that it asks for; of an addition, the new elements. */
  private Reading updated(ObjectCommand.Update update, Request.Ask ask) {
    Keyspace.Found found =
        transaction != null
            ? transaction.updateAsync(update.key(), update.type(), update.operation(), ask).join()
            : keyspace().update(update.key(), update.type(), update.operation(), ask);
    return update.shown(found.reading().orElseThrow());
  }

  /** Does an update if its condition holds; returns whether it was done. */
  private boolean isDone(ObjectCommand.Update u) {
    if (u.condition().isEmpty()) {
      update(u.key(), u.type(), u.operation());
      return true;
    }
    Request.Condition condition = u.condition().get();
    return transaction != null
        ? transaction.updateIfAsync(u.key(), u.type(), u.operation(), condition).join()
        : keyspace().updateIf(u.key(), u.type(), u.operation(), condition);
  }

  private void update(Key key, CrdtType type, Operation operation) {
    if (transaction == null) {
      keyspace().update(key, type, operation);
      return;
    }
    transaction.update(key, type, operation).join();
    // Reads the object, so that an error of the update is shown now.
    transaction.read(key, Optional.of(type), new Query.Whole());
  }

  private Keyspace.Found read(Key key, Optional<CrdtType> type, Query query) {
    return transaction != null
        ? transaction.read(key, type, query)
        : keyspace().read(key, type, query);
  }

  private String found(Keyspace.Found found) {
    if (answers.isPiped() && !answers.asJson()) { // who reads the text wants the value alone
      found.age().ifPresent(age -> System.err.println("note:" + Answers.aged(age)));
    }
    return answers.found(found);
  }

  /** Returns what a key holds, without its value. */
  private Keyspace.Found find(Key key) {
    return read(key, Optional.empty(), new Query.Exists());
  }

  private String changed(String name, boolean changed, String otherwise) {
    return answers.flag(name, changed, changed ? done() : otherwise);
  }

  private String done() {
    return transaction != null ? "noted; commit makes it visible" : "done";
  }

  private String timeToLive(Grammar.PartTimeToLive of) {
    Reading left =
        read(of.key(), Optional.of(of.type()), new Query.PartTimeToLive(of.part()))
            .reading()
            .orElseThrow();
    Query isThere =
        switch (of.part()) {
          case Part.Element p -> new Query.Contains(p.value());
          case Part.Field p -> new Query.Select(List.of(p.name()));
        };
    return answers.timeToLive(
        Optional.of(((Reading.Count) left).value()).filter(n -> n >= 0).map(Duration::ofMillis),
        () ->
            switch (read(of.key(), Optional.of(of.type()), isThere).reading().orElseThrow()) {
              case Reading.Flag f -> f.value();
              case Reading.Fields f -> !f.fields().isEmpty();
              default -> throw new IllegalStateException("another answer");
            });
  }

  private String delete(List<String> keys) {
    int deleted = 0;
    for (String key : keys) {
      deleted += space().delete(key) ? 1 : 0;
    }
    return answers.deleted(deleted, transaction != null ? "; commit makes it visible" : "");
  }

  private String use(Grammar.Use use) {
    if (transaction != null) {
      throw Words.bad(
          "a transaction of '" + chosen.name().orElse("") + "' is open: commit or abort it first");
    }
    use.keyspace().ifPresent(chosen::choose);
    return answers.keyspaces(chosen.name(), chosen.all());
  }

  /** Returns the keyspaces that the datacenter told last, for completion. */
  List<String> keyspaces() {
    return chosen.told();
  }

  /** Returns some keys with a prefix, for completion. */
  List<String> keys(String prefix, Optional<CrdtType> type) {
    Scan scan = Scan.prefix(prefix).keysOnly().limit(KEYS_SHOWN);
    return keyspace().page(type.map(scan::ofType).orElse(scan)).rows().stream()
        .map(r -> r.key().toString())
        .toList();
  }

  private String transact(Grammar.Transact t) {
    if (t.verb().equals("begin")) {
      if (transaction != null) {
        throw Words.bad("a transaction is open already: commit or abort it first");
      }
      Duration limit = Duration.ofSeconds(t.seconds());
      transaction = keyspace().begin(TransactionOptions.DEFAULT.limit(limit));
      String clock = transaction.clock().toString();
      return answers.text(
          "clock", clock, "at " + transaction.datacenter() + ", on the snapshot " + clock);
    }
    if (transaction == null) {
      throw Words.bad(
          "no transaction is open: 'begin' opens one (in the interactive mode, as a transaction"
              + " ends with its connection)");
    }
    Transaction ending = transaction;
    if (t.verb().equals("abort")) {
      transaction = null;
      ending.abort();
      return answers.flag("committed", false, "aborted");
    }
    try {
      String clock = ending.commit().toString();
      transaction = null;
      return answers.committed(clock);
    } catch (OsierException e) {
      if (e.code() == ErrorCode.TRANSACTION_ENDED || e instanceof OutcomeUnknownException) {
        transaction = null;
      }
      throw e;
    }
  }

  private String program(Grammar.Program p) {
    if (!p.verb().equals("program")) {
      throw Words.bad(
          "no program was begun: 'program' begins one, and the lines from there to 'run' belong to"
              + " it");
    }
    checkNoTransaction(p.verb());
    program = new CliProgram(keyspace().program(), answers.asJson());
    return answers.asJson()
        ? CliProgram.NOTED_JSON
        : "the commands that follow are noted; 'run' sends them as one program";
  }

  /** Handles a command while a program is being entered. */
  private String inProgram(CliProgram written, Grammar.Action action) {
    switch (action) {
      case Grammar.Program p when p.verb().equals("run") -> {
        program = null; // whatever the outcome
        String answers = written.run();
        failed |= written.hasFailed();
        return answers;
      }
      case Grammar.Transact t when t.verb().equals("abort") -> {
        program = null;
        return answers.flag("run", false, "forgotten");
      }
      default -> {
        return written.note(action);
      }
    }
  }

  /** Returns whether a call of a program has failed; its error was among the program's answers. */
  boolean hasFailed() {
    return failed;
  }

  /** Called after the last command; throws if a program or transaction was begun and not ended. */
  void checkNothingBegun() {
    if (program != null) {
      throw Words.bad(
          "the program was not run: nothing of it was done (the input ended without 'run')");
    }
    if (transaction != null) {
      throw Words.bad(
          "the transaction was not committed: nothing of it was done (the input ended without"
              + " 'commit')");
    }
  }

  private String move(Grammar.Move m) {
    checkNoTransaction(m.copies() ? "copy" : "rename");
    boolean there =
        m.copies() ? keyspace().copy(m.from(), m.to()) : keyspace().rename(m.from(), m.to());
    return changed(m.copies() ? "copied" : "renamed", there, CliProgram.NOTHING);
  }

  private void checkNoTransaction(String verb) {
    if (transaction != null) {
      throw Words.bad("a transaction is open, and has no '" + verb + "': commit or abort it first");
    }
  }

  /** Returns the open transaction, or else the keyspace. */
  private ObjectSpace space() {
    return transaction != null ? transaction : keyspace();
  }

  /** Returns the chosen keyspace, or the only one. */
  public Keyspace keyspace() {
    return chosen.keyspace();
  }

  private String scan(Grammar.Scan scan) {
    return answers.page(
        keyspace().scan(scan.from(), Optional.empty(), new Query.Whole(), scan.limit()));
  }

  private String keys(Grammar.Keys keys) {
    try (Stream<Keyspace.Row> all = space().scan(keys.of().keysOnly().limit(keys.limit()))) {
      return answers.keys(all.toList());
    }
  }
}
