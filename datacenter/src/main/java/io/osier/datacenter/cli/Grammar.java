package io.osier.datacenter.cli;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.BoundedCounter;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** The words of the command line and what they mean. Pure. */
final class Grammar {
  /** What is shown by help. */
  static final List<String> HELP =
      List.of(
          "counter incr KEY [N] | counter decr KEY [N] | counter get KEY        (also gcounter)",
          "register set KEY VALUE | register get KEY                           (also mvregister)",
          "ewflag on KEY | ewflag off KEY | ewflag get KEY                     (also dwflag)",
          "set add KEY E... | set remove KEY E... | set has KEY E | set size KEY | set get KEY",
          "                              (also gset, rwset, lwwset, lwwset-remove; gset only grows)",
          "map set KEY FIELD=VALUE...    registers in fields, all at once",
          "map update KEY FIELD TYPE OP ARGS...    any type in a field, e.g. f counter incr 3",
          "map remove KEY FIELD... | map get KEY [FIELD...] | map size KEY",
          "TYPE clear KEY                resets the object as far as it is seen",
          "get KEY                       whatever the key holds",
          "bcounter create KEY LOWER UPPER    a counter that keeps its bounds (- for none)",
          "bcounter incr|decr KEY [N [WAIT_MS]] | bcounter give KEY DC N [up|down]",
          "bcounter get KEY | bcounter rights KEY    who may subtract and add how much",
          "begin [SECONDS] | commit | abort    a transaction of a causal keyspace",
          "scan [FROM [LIMIT]]           objects in the order of their keys",
          "stat | hot [N] | peers        what the datacenter is doing",
          "",
          "A VALUE or element is a long (42), a double (4.2), bytes (0xCAFE) or else a string;",
          "'42' in single quotes is a string.");

  /** One command. */
  sealed interface Action {}

  /** Updates an object. */
  record Update(Key key, CrdtType type, Operation operation) implements Action {}

  /** Reads an object. */
  record Read(Key key, Optional<CrdtType> type, Query query) implements Action {}

  /** Reads many. */
  record Scan(Optional<Key> from, int limit) implements Action {}

  /** Begins or ends a transaction. */
  record Transact(String verb, int seconds) implements Action {}

  /** Asks what the datacenter does. */
  record Inspect(String topic, int limit) implements Action {}

  private static final int SCAN_LIMIT = 100;
  private static final int HOT_LIMIT = 20;

  /** A person types slowly. */
  private static final int LIMIT_SECONDS = 300;

  private Grammar() {}

  /**
   * Understands a command.
   *
   * @throws OsierException INVALID_ARGUMENT that says what is wrong and what would be right
   */
  static Action parse(List<String> words) {
    if (words.isEmpty()) {
      throw bad("a command is missing; try help");
    }
    return switch (words.getFirst()) {
      case "get" -> {
        arguments(words, 2, 2, "get KEY");
        yield new Read(Key.of(words.get(1)), Optional.empty(), new Query.Whole());
      }
      case "scan" -> {
        arguments(words, 1, 3, "scan [FROM [LIMIT]]");
        yield new Scan(
            words.size() > 1 ? Optional.of(Key.of(words.get(1))) : Optional.empty(),
            words.size() > 2 ? (int) number(words.get(2)) : SCAN_LIMIT);
      }
      case "begin" -> {
        arguments(words, 1, 2, "begin [SECONDS]");
        yield new Transact("begin", words.size() > 1 ? (int) number(words.get(1)) : LIMIT_SECONDS);
      }
      case "commit", "abort" -> {
        arguments(words, 1, 1, words.getFirst());
        yield new Transact(words.getFirst(), 0);
      }
      case "stat", "peers" -> {
        arguments(words, 1, 1, words.getFirst());
        yield new Inspect(words.getFirst(), 0);
      }
      case "hot" -> {
        arguments(words, 1, 2, "hot [N]");
        yield new Inspect("hot", words.size() > 1 ? (int) number(words.get(1)) : HOT_LIMIT);
      }
      default -> object(CrdtType.ofLabel(words.getFirst()), words);
    };
  }

  private static Action object(CrdtType type, List<String> words) {
    if (words.size() < 3) {
      throw bad("after '" + type + "' come an operation and a key, for example: " + example(type));
    }
    String verb = words.get(1);
    Key key = Key.of(words.get(2));
    List<String> rest = words.subList(3, words.size());
    Query query = query(type, verb, rest);
    return query != null
        ? new Read(key, Optional.of(type), query)
        : new Update(key, type, operation(type, verb, rest));
  }

  private static Query query(CrdtType type, String verb, List<String> rest) {
    return switch (verb) {
      case "get" ->
          rest.isEmpty() || type != CrdtType.OR_MAP ? new Query.Whole() : new Query.Select(rest);
      case "has" -> new Query.Contains(value(only(rest, type + " has KEY ELEMENT")));
      case "size" -> new Query.Size();
      case "rights" -> new Query.Rights();
      default -> null;
    };
  }

  private static Operation operation(CrdtType type, String verb, List<String> rest) {
    if (verb.equals("clear")) {
      return new Operation.Clear();
    }
    return switch (type) {
      case PN_COUNTER, G_COUNTER ->
          switch (verb) {
            case "incr" -> new Operation.Increment(rest.isEmpty() ? 1 : number(rest.getFirst()));
            case "decr" -> new Operation.Increment(rest.isEmpty() ? -1 : -number(rest.getFirst()));
            default -> throw unknown(type, verb, "incr, decr, get, clear");
          };
      case LWW_REGISTER, MV_REGISTER ->
          switch (verb) {
            case "set" -> new Operation.Assign(value(only(rest, type + " set KEY VALUE")));
            default -> throw unknown(type, verb, "set, get, clear");
          };
      case EW_FLAG, DW_FLAG ->
          switch (verb) {
            case "on" -> new Operation.SetFlag(true);
            case "off" -> new Operation.SetFlag(false);
            default -> throw unknown(type, verb, "on, off, get, clear");
          };
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          switch (verb) {
            case "add" -> new Operation.Add(values(rest, type + " add KEY ELEMENT..."));
            case "remove" -> new Operation.Remove(values(rest, type + " remove KEY ELEMENT..."));
            default -> throw unknown(type, verb, "add, remove, has, size, get, clear");
          };
      case OR_MAP ->
          switch (verb) {
            case "set" -> new Operation.UpdateFields(assignments(rest));
            case "update" -> new Operation.UpdateFields(List.of(fieldUpdate(rest)));
            case "remove" -> {
              if (rest.isEmpty()) {
                throw bad("map remove KEY FIELD... needs at least one field");
              }
              yield new Operation.RemoveFields(rest);
            }
            default -> throw unknown(type, verb, "set, update, remove, size, get, clear");
          };
      case BOUNDED_COUNTER -> bounded(type, verb, rest);
    };
  }

  private static Operation bounded(CrdtType type, String verb, List<String> rest) {
    return switch (verb) {
      case "create" -> {
        arguments(rest, 2, 2, type + " create KEY LOWER UPPER");
        yield new Operation.Bound(
            rest.get(0).equals("-") ? BoundedCounter.NO_LOWER : number(rest.get(0)),
            rest.get(1).equals("-") ? BoundedCounter.NO_UPPER : number(rest.get(1)),
            List.of());
      }
      case "incr", "decr" -> {
        arguments(rest, 0, 2, type + " " + verb + " KEY [N [WAIT_MS]]");
        long n = rest.isEmpty() ? 1 : number(rest.getFirst());
        long amount = verb.equals("incr") ? n : -n;
        yield rest.size() > 1
            ? new Operation.IncrementWithin(amount, Math.toIntExact(number(rest.get(1))))
            : new Operation.Increment(amount);
      }
      case "give" -> {
        arguments(rest, 2, 3, type + " give KEY DC N [up|down]");
        boolean up = rest.size() > 2 && rest.get(2).equals("up");
        yield new Operation.Transfer(rest.get(0), number(rest.get(1)), up);
      }
      default -> throw unknown(type, verb, "create, incr, decr, give, get, rights");
    };
  }

  private static List<Operation.FieldUpdate> assignments(List<String> rest) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (String word : rest) {
      int equals = word.indexOf('=');
      if (equals < 1) {
        throw bad("map set KEY FIELD=VALUE... takes fields as name=value, not '" + word + "'");
      }
      updates.add(
          new Operation.FieldUpdate(
              new FieldId(word.substring(0, equals), CrdtType.LWW_REGISTER),
              new Operation.Assign(value(word.substring(equals + 1)))));
    }
    if (updates.isEmpty()) {
      throw bad("map set KEY FIELD=VALUE... needs at least one field");
    }
    return updates;
  }

  private static Operation.FieldUpdate fieldUpdate(List<String> rest) {
    if (rest.size() < 3) {
      throw bad("map update KEY FIELD TYPE OP ARGS..., for example: map update k f counter incr 3");
    }
    CrdtType type = CrdtType.ofLabel(rest.get(1));
    return new Operation.FieldUpdate(
        new FieldId(rest.getFirst(), type),
        operation(type, rest.get(2), rest.subList(3, rest.size())));
  }

  private static String example(CrdtType type) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> type + " incr likes 1";
      case LWW_REGISTER, MV_REGISTER -> type + " set name Ada";
      case EW_FLAG, DW_FLAG -> type + " on seen";
      case OR_MAP -> "map set user name=Ada";
      case BOUNDED_COUNTER -> "bcounter create stock 0 100";
      default -> type + " add cart book";
    };
  }

  private static OsierException unknown(CrdtType type, String verb, String known) {
    return bad("a " + type + " has no '" + verb + "'; it has " + known);
  }

  private static void arguments(List<String> words, int min, int max, String usage) {
    if (words.size() < min || words.size() > max) {
      throw bad("usage: " + usage);
    }
  }

  private static String only(List<String> rest, String usage) {
    if (rest.size() != 1) {
      throw bad("usage: " + usage);
    }
    return rest.getFirst();
  }

  private static List<Value> values(List<String> rest, String usage) {
    if (rest.isEmpty()) {
      throw bad("usage: " + usage);
    }
    return rest.stream().map(Grammar::value).toList();
  }

  private static long number(String word) {
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      throw bad("'" + word + "' must be a whole number");
    }
  }

  /** A long, a double, bytes, or else a string. */
  static Value value(String word) {
    if (word.matches("-?\\d{1,18}")) {
      return Value.of(Long.parseLong(word));
    }
    if (word.matches("-?\\d+\\.\\d+([eE][-+]?\\d+)?")) {
      return Value.of(Double.parseDouble(word));
    }
    if (word.matches("0x([0-9a-fA-F]{2})*")) {
      return Value.of(HexFormat.of().parseHex(word.substring(2)));
    }
    boolean quoted = word.length() > 1 && word.startsWith("'") && word.endsWith("'");
    return Value.of(quoted ? word.substring(1, word.length() - 1) : word);
  }

  private static OsierException bad(String message) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, message);
  }
}
