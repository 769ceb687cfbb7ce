package io.osier.datacenter.words;

import static io.osier.datacenter.words.Words.amount;
import static io.osier.datacenter.words.Words.arguments;
import static io.osier.datacenter.words.Words.bad;
import static io.osier.datacenter.words.Words.key;
import static io.osier.datacenter.words.Words.number;
import static io.osier.datacenter.words.Words.only;
import static io.osier.datacenter.words.Words.texts;
import static io.osier.datacenter.words.Words.value;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.types.BoundedCounter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The words of what is done with one object, by its type. Pure. */
public final class ObjectGrammar {
  /** So many are shown of a range where nothing else is said. */
  private static final int RANGE_LIMIT = 100;

  private ObjectGrammar() {}

  /**
   * Understands a command.
   *
   * @param words the type, an operation, a key, and what the operation needs
   * @throws OsierException INVALID_ARGUMENT that says what is wrong and what would be right
   */
  public static ObjectCommand parse(CrdtType type, List<Word> words) {
    if (words.size() == 2 && !verbs(type).contains(words.get(1).text())) {
      throw unknown(type, words.get(1).text());
    }
    if (words.size() < 3) {
      throw bad("after '" + type + "' come an operation and a key, for example: " + example(type));
    }
    String verb = words.get(1).text();
    Key key = key(words.get(2));
    List<Word> rest = words.subList(3, words.size());
    if (verb.equals("ttl") && hasParts(type)) {
      return new ObjectCommand.PartTimeToLive(
          key, type, part(type, only(rest, type + " ttl KEY " + partName(type))));
    }
    Optional<Query> query = query(type, verb, rest);
    return query.isPresent()
        ? new ObjectCommand.Read(key, type, query.get())
        : new ObjectCommand.Update(key, type, operation(type, verb, rest));
  }

  /** What can be done with an object of a type, as the second word of a command. */
  public static List<String> verbs(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> List.of("incr", "decr", "get", "clear");
      case G_COUNTER -> List.of("incr", "get", "clear");
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER -> List.of("set", "get", "clear");
      case STRING ->
          List.of("set", "get", "incr", "decr", "append", "setrange", "setbit", "size", "clear");
      case EW_FLAG, DW_FLAG -> List.of("on", "off", "get", "clear");
      case G_SET ->
          List.of("add", "has", "size", "get", "range", "expire", "persist", "ttl", "clear");
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          List.of(
              "add", "remove", "has", "size", "get", "range", "expire", "persist", "ttl", "clear");
      case OR_MAP ->
          List.of(
              "set", "update", "remove", "get", "range", "size", "expire", "persist", "ttl",
              "clear");
      case BOUNDED_COUNTER -> List.of("create", "incr", "decr", "give", "get", "rights");
    };
  }

  /** What is read; empty if the verb is an update's. */
  private static Optional<Query> query(CrdtType type, String verb, List<Word> rest) {
    return switch (verb) {
      case "get" ->
          Optional.of(
              type == CrdtType.OR_MAP && !rest.isEmpty()
                  ? new Query.Select(texts(rest))
                  : alone(type, verb, rest, new Query.Whole()));
      case "has" -> Optional.of(new Query.Contains(value(only(rest, type + " has KEY ELEMENT"))));
      case "size" -> Optional.of(alone(type, verb, rest, new Query.Size()));
      case "range" -> Optional.of(range(type, rest));
      case "rights" -> Optional.of(alone(type, verb, rest, new Query.Rights()));
      default -> Optional.empty();
    };
  }

  private static Query range(CrdtType type, List<Word> words) {
    String usage =
        "%1$s range KEY [from|after %2$s] [to|before %2$s] [last] [N]"
            .formatted(type, partName(type));
    Optional<Query.Bound> from = Optional.empty();
    Optional<Query.Bound> to = Optional.empty();
    boolean descending = false;
    int limit = RANGE_LIMIT;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i).text();
      boolean inclusive = word.equals("from") || word.equals("to");
      switch (word) {
        case "from", "after", "to", "before" -> {
          if (++i == words.size()) {
            throw bad("behind '" + word + "' comes an end: " + usage);
          }
          Query.Bound end = new Query.Bound(part(type, words.get(i)), inclusive);
          if (word.equals("from") || word.equals("after")) {
            from = Optional.of(end);
          } else {
            to = Optional.of(end);
          }
        }
        case "last" -> descending = true;
        default -> {
          if (i < words.size() - 1 || !word.matches("[0-9]{1,9}")) {
            throw bad("'" + word + "' is no part of " + usage);
          }
          limit = Integer.parseInt(word);
        }
      }
    }
    return new Query.Range(from, to, descending, limit);
  }

  private static Operation operation(CrdtType type, String verb, List<Word> rest) {
    if (verb.equals("clear")) {
      return alone(type, verb, rest, new Operation.Clear());
    }
    if (hasParts(type) && verb.equals("expire")) {
      String usage = type + " expire KEY SECONDS " + partName(type) + "...";
      arguments(rest, 2, Integer.MAX_VALUE, usage);
      return new Operation.ExpireParts(
          parts(type, rest.subList(1, rest.size())), Words.after(rest.getFirst()));
    }
    if (hasParts(type) && verb.equals("persist")) {
      String usage = type + " persist KEY " + partName(type) + "...";
      arguments(rest, 1, Integer.MAX_VALUE, usage);
      return new Operation.PersistParts(parts(type, rest));
    }
    return switch (type) {
      case PN_COUNTER, G_COUNTER ->
          switch (verb) {
            case "incr", "decr" -> new Operation.Increment(summand(type, verb, rest));
            default -> throw unknown(type, verb);
          };
      case STRING -> string(type, verb, rest);
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          switch (verb) {
            case "set" -> new Operation.Assign(value(only(rest, type + " set KEY VALUE")));
            default -> throw unknown(type, verb);
          };
      case EW_FLAG, DW_FLAG ->
          switch (verb) {
            case "on", "off" -> alone(type, verb, rest, new Operation.SetFlag(verb.equals("on")));
            default -> throw unknown(type, verb);
          };
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          switch (verb) {
            case "add" -> new Operation.Add(Words.values(rest, type + " add KEY ELEMENT..."));
            case "remove" ->
                new Operation.Remove(Words.values(rest, type + " remove KEY ELEMENT..."));
            default -> throw unknown(type, verb);
          };
      case OR_MAP ->
          switch (verb) {
            case "set" -> new Operation.UpdateFields(assignments(rest));
            case "update" -> new Operation.UpdateFields(List.of(fieldUpdate(rest)));
            case "remove" -> {
              if (rest.isEmpty()) {
                throw bad("map remove KEY FIELD... needs at least one field");
              }
              yield new Operation.RemoveFields(texts(rest));
            }
            default -> throw unknown(type, verb);
          };
      case BOUNDED_COUNTER -> bounded(type, verb, rest);
    };
  }

  private static Operation string(CrdtType type, String verb, List<Word> rest) {
    return switch (verb) {
      case "set" -> new Operation.Assign(text(only(rest, type + " set KEY TEXT")));
      case "append" -> new Operation.Append(text(only(rest, type + " append KEY TEXT")));
      case "incr", "decr" -> {
        if (rest.size() == 1 && rest.getFirst().text().indexOf('.') >= 0) {
          BigDecimal amount = decimal(rest.getFirst());
          yield new Operation.IncrementDecimal(verb.equals("incr") ? amount : amount.negate());
        }
        yield new Operation.Increment(summand(type, verb, rest));
      }
      case "setrange" -> {
        arguments(rest, 2, 2, type + " setrange KEY OFFSET TEXT");
        yield new Operation.SetRange(number(rest.get(0)), text(rest.get(1)));
      }
      case "setbit" -> {
        String usage = type + " setbit KEY OFFSET 0|1";
        arguments(rest, 2, 2, usage);
        String bit = rest.get(1).text();
        if (!bit.equals("0") && !bit.equals("1")) {
          throw bad("a bit is 0 or 1, not '" + bit + "': " + usage);
        }
        yield new Operation.SetBit(number(rest.get(0)), bit.equals("1"));
      }
      default -> throw unknown(type, verb);
    };
  }

  /** A number, too, is the text that was written. */
  static Value text(Word word) {
    return value(word) instanceof Value.Bytes bytes ? bytes : Value.of(word.text());
  }

  private static BigDecimal decimal(Word word) {
    String text = word.text();
    if (text.length() > 40 || !text.matches("-?[0-9]*\\.[0-9]+")) {
      throw bad("'" + text + "' is not a number of at most 40 characters, as 2.5 is");
    }
    return new BigDecimal(text);
  }

  private static Operation bounded(CrdtType type, String verb, List<Word> rest) {
    return switch (verb) {
      case "create" -> {
        arguments(rest, 2, 3, type + " create KEY LOWER UPPER [FIRST]");
        yield new Operation.Bound(
            rest.get(0).text().equals("-") ? BoundedCounter.NO_LOWER : number(rest.get(0)),
            rest.get(1).text().equals("-") ? BoundedCounter.NO_UPPER : number(rest.get(1)),
            List.of(),
            rest.size() > 2 ? number(rest.get(2)) : 0);
      }
      case "incr", "decr" -> {
        arguments(rest, 0, 2, type + " " + verb + " KEY [N [WAIT_MS]]");
        long amount = summand(type, verb, rest.subList(0, Math.min(1, rest.size())));
        yield rest.size() > 1
            ? new Operation.IncrementWithin(amount, amount(rest.get(1)))
            : new Operation.Increment(amount);
      }
      case "give" -> {
        String usage = type + " give KEY DC N [up|down]";
        arguments(rest, 2, 3, usage);
        boolean up = rest.size() > 2 && rest.get(2).text().equals("up");
        if (rest.size() > 2 && !up && !rest.get(2).text().equals("down")) {
          throw bad("usage: " + usage);
        }
        yield new Operation.Transfer(rest.get(0).text(), number(rest.get(1)), up);
      }
      default -> throw unknown(type, verb);
    };
  }

  /** What is added where one is if nothing is said. */
  private static long summand(CrdtType type, String verb, List<Word> rest) {
    arguments(rest, 0, 1, type + " " + verb + " KEY [N]");
    long n = rest.isEmpty() ? 1 : number(rest.getFirst());
    return verb.equals("incr") ? n : -n;
  }

  /** What a verb means that nothing follows behind the key. */
  private static <T> T alone(CrdtType type, String verb, List<Word> rest, T meaning) {
    arguments(rest, 0, 0, type + " " + verb + " KEY");
    return meaning;
  }

  private static List<Operation.FieldUpdate> assignments(List<Word> rest) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (Word word : rest) {
      int equals = word.text().indexOf('=');
      if (equals < 1) {
        throw bad(
            "map set KEY FIELD=VALUE... takes fields as name=value, not '" + word.text() + "'");
      }
      updates.add(
          new Operation.FieldUpdate(
              new FieldId(word.text().substring(0, equals), CrdtType.LWW_REGISTER),
              new Operation.Assign(
                  value(new Word(word.text().substring(equals + 1), word.literal())))));
    }
    if (updates.isEmpty()) {
      throw bad("map set KEY FIELD=VALUE... needs at least one field");
    }
    return updates;
  }

  private static Operation.FieldUpdate fieldUpdate(List<Word> rest) {
    if (rest.size() < 3) {
      throw bad("map update KEY FIELD TYPE OP ARGS..., for example: map update k f counter incr 3");
    }
    CrdtType type = CrdtType.ofLabel(rest.get(1).text());
    return new Operation.FieldUpdate(
        new FieldId(rest.getFirst().text(), type),
        operation(type, rest.get(2).text(), rest.subList(3, rest.size())));
  }

  private static boolean hasParts(CrdtType type) {
    return switch (type) {
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS, OR_MAP -> true;
      default -> false;
    };
  }

  private static String partName(CrdtType type) {
    return type == CrdtType.OR_MAP ? "FIELD" : "ELEMENT";
  }

  private static List<Part> parts(CrdtType type, List<Word> words) {
    return words.stream().map(word -> part(type, word)).toList();
  }

  private static Part part(CrdtType type, Word word) {
    return type == CrdtType.OR_MAP ? new Part.Field(word.text()) : new Part.Element(value(word));
  }

  /** A command about an object of a type. */
  public static String example(CrdtType type) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> type + " incr likes 1";
      case LWW_REGISTER, MV_REGISTER, STRING -> type + " set name Ada";
      case MIN_REGISTER, MAX_REGISTER -> type + " set price 5";
      case EW_FLAG, DW_FLAG -> type + " on seen";
      case OR_MAP -> "map set user name=Ada";
      case BOUNDED_COUNTER -> "bcounter create stock 0 100";
      default -> type + " add cart book";
    };
  }

  private static OsierException unknown(CrdtType type, String verb) {
    return Words.noVerb("a " + type, verb, verbs(type));
  }
}
