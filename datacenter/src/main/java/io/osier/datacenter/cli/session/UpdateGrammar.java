package io.osier.datacenter.cli.session;

import static io.osier.datacenter.words.Words.bad;
import static io.osier.datacenter.words.Words.seconds;
import static io.osier.datacenter.words.Words.value;

import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.datacenter.cli.session.Grammar.Update;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.Word;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What stands in front of an update: what is asked of it, when it is done, how long it lasts. Pure.
 */
final class UpdateGrammar {
  private UpdateGrammar() {}

  /**
   * Understands an update behind such a word.
   *
   * @throws OsierException INVALID_ARGUMENT that says what is wrong and what would be right
   */
  static Update parse(List<Word> words) {
    return switch (words.getFirst().text()) {
      case "returning" -> {
        Update u = update(words, 1, "returning counter incr KEY 3");
        yield new Update(
            u.key(), u.type(), u.operation(), Optional.of(asked(u.operation())), Optional.empty());
      }
      case "ifabsent" -> {
        Update u = update(words, 1, "ifabsent register set KEY VALUE");
        yield conditional(u, TypeRegistry.empty(u.type()).read(new Query.Whole()));
      }
      case "ifvalue" -> {
        Update u = update(words, 2, "ifvalue OLD register set KEY NEW");
        if (u.type() != CrdtType.LWW_REGISTER && u.type() != CrdtType.STRING) {
          throw bad(
              "'ifvalue' is for a register or string, for example: ifvalue OLD register set KEY"
                  + " NEW");
        }
        Word old = words.get(1);
        yield conditional(
            u,
            new Reading.Single(
                Optional.of(u.type() == CrdtType.STRING ? Value.of(old.text()) : value(old))));
      }
      default -> lasting(words);
    };
  }

  /** For so long, as a whole or each of its parts. */
  private static Update lasting(List<Word> words) {
    boolean each = words.getFirst().text().equals("eachfor");
    if (words.size() < 4 || !(Grammar.parse(words.subList(2, words.size())) instanceof Update u)) {
      throw bad(
          each
              ? "usage: eachfor SECONDS, and an update, as in: eachfor 30 set add KEY E"
              : "usage: for SECONDS, and an update, as in: for 30 register set KEY VALUE");
    }
    Duration limit = seconds(words.get(1));
    Keyspace.Change change = new Keyspace.Change(u.key(), u.type(), u.operation());
    Keyspace.Change lasting = each ? change.partsExpiring(limit) : change.expiring(limit);
    return new Update(u.key(), u.type(), lasting.operation(), u.ask(), u.condition());
  }

  /** The update that begins at a word. */
  private static Update update(List<Word> words, int at, String example) {
    if (words.size() > at
        && Grammar.ofObject(
                ObjectGrammar.parse(
                    Grammar.type(words.get(at).text()), words.subList(at, words.size())))
            instanceof Update update) {
      return update;
    }
    throw bad("after '" + words.getFirst().text() + "' comes an update, for example: " + example);
  }

  private static Update conditional(Update update, Reading expected) {
    Request.Condition condition = new Request.Condition(List.of(), new Query.Whole(), expected);
    return new Update(
        update.key(), update.type(), update.operation(), Optional.empty(), Optional.of(condition));
  }

  /** What an update made, or else what was there before. */
  private static Request.Ask asked(Operation operation) {
    return switch (operation) {
      case Operation.Increment o -> new Request.Ask(false, new Query.Whole());
      case Operation.IncrementDecimal o -> new Request.Ask(false, new Query.Whole());
      case Operation.Append o -> new Request.Ask(false, new Query.Size());
      case Operation.SetRange o -> new Request.Ask(false, new Query.Size());
      case Operation.IncrementWithin o -> new Request.Ask(false, new Query.Whole());
      case Operation.Add o -> new Request.Ask(true, new Query.Among(o.elements()));
      case Operation.Remove o -> new Request.Ask(true, new Query.Among(o.elements()));
      case Operation.RemoveFields o -> new Request.Ask(true, new Query.Select(o.names()));
      case Operation.UpdateFields o ->
          new Request.Ask(
              false, new Query.Select(o.updates().stream().map(u -> u.field().name()).toList()));
      case Operation.Bound o -> new Request.Ask(false, new Query.Rights());
      case Operation.Transfer o -> new Request.Ask(false, new Query.Rights());
      default -> new Request.Ask(true, new Query.Whole());
    };
  }
}
