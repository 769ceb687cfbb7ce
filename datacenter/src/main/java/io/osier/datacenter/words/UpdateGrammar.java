package io.osier.datacenter.words;

import static io.osier.datacenter.words.Words.bad;
import static io.osier.datacenter.words.Words.value;

import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The words in front of an update, which say how it is done or what it shows. Pure. */
public final class UpdateGrammar {
  private static final String RETURNING = "returning";
  private static final String IF_ABSENT = "ifabsent";
  private static final String IF_VALUE = "ifvalue";
  private static final String FOR = "for";
  private static final String EACH_FOR = "eachfor";
  public static final List<String> WORDS = List.of(RETURNING, IF_ABSENT, IF_VALUE, FOR, EACH_FOR);

  private UpdateGrammar() {}

  /** How many words belong to a word in front of an update, with itself; 0 if it is none. */
  public static int length(String word) {
    return switch (word) {
      case RETURNING, IF_ABSENT -> 1;
      case IF_VALUE, FOR, EACH_FOR -> 2;
      default -> 0;
    };
  }

  /**
   * Understands a command about one object, with what may stand in front of an update.
   *
   * @param types finds the type that a word names
   * @throws OsierException INVALID_ARGUMENT that says what is wrong and what would be right
   */
  public static ObjectCommand parse(List<Word> words, Function<String, CrdtType> types) {
    String first = words.getFirst().text();
    return switch (first) {
      case RETURNING -> {
        ObjectCommand.Update u = update(words, 1, "returning counter incr KEY 3", types);
        yield new ObjectCommand.Update(
            u.key(), u.type(), u.operation(), Optional.of(asked(u.operation())), Optional.empty());
      }
      case IF_ABSENT -> {
        ObjectCommand.Update u = update(words, 1, "ifabsent register set KEY VALUE", types);
        yield conditional(u, TypeRegistry.empty(u.type()).read(new Query.Whole()));
      }
      case IF_VALUE -> {
        ObjectCommand.Update u = update(words, 2, "ifvalue OLD register set KEY NEW", types);
        if (u.type() != CrdtType.LWW_REGISTER && u.type() != CrdtType.STRING) {
          throw bad(
              "'ifvalue' is for a register or string, for example: ifvalue OLD register set KEY"
                  + " NEW");
        }
        Word old = words.get(1);
        yield conditional(
            u,
            new Reading.Single(
                Optional.of(u.type() == CrdtType.STRING ? ObjectGrammar.text(old) : value(old))));
      }
      case FOR -> {
        ObjectCommand.Update u = lasting(words, "for 30 register set KEY VALUE", types);
        yield u.with(new Operation.WithDeadline(u.operation(), Words.after(words.get(1))));
      }
      case EACH_FOR -> {
        ObjectCommand.Update u = lasting(words, "eachfor 30 set add KEY E", types);
        yield u.with(new Operation.WithPartDeadlines(u.operation(), Words.after(words.get(1))));
      }
      default -> ObjectGrammar.parse(types.apply(first), words);
    };
  }

  /** The update behind a number of seconds, which may have words in front of it, too. */
  private static ObjectCommand.Update lasting(
      List<Word> words, String example, Function<String, CrdtType> types) {
    if (words.size() > 3
        && parse(words.subList(2, words.size()), types) instanceof ObjectCommand.Update update) {
      return update;
    }
    throw bad("usage: " + words.getFirst().text() + " SECONDS, and an update, as in: " + example);
  }

  /** The update that begins at a word. */
  private static ObjectCommand.Update update(
      List<Word> words, int at, String example, Function<String, CrdtType> types) {
    if (words.size() > at
        && ObjectGrammar.parse(types.apply(words.get(at).text()), words.subList(at, words.size()))
            instanceof ObjectCommand.Update update) {
      return update;
    }
    throw bad("after '" + words.getFirst().text() + "' comes an update, for example: " + example);
  }

  private static ObjectCommand.Update conditional(ObjectCommand.Update update, Reading expected) {
    Request.Condition condition = new Request.Condition(List.of(), new Query.Whole(), expected);
    return new ObjectCommand.Update(
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
