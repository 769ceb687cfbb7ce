package io.osier.datacenter.cli.session;

import static io.osier.datacenter.cli.session.Words.amount;
import static io.osier.datacenter.cli.session.Words.arguments;
import static io.osier.datacenter.cli.session.Words.bad;
import static io.osier.datacenter.cli.session.Words.key;
import static io.osier.datacenter.cli.session.Words.seconds;
import static io.osier.datacenter.cli.session.Words.textKey;
import static io.osier.datacenter.cli.session.Words.texts;
import static io.osier.datacenter.cli.session.Words.time;
import static io.osier.datacenter.cli.session.Words.value;

import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.net.HostPort;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The words of the command line and what they mean. Pure. */
public final class Grammar {
  /** What is shown by help, of all types and of everything else. */
  public static final List<String> HELP =
      List.of(
          "counter incr|decr KEY [N] | counter get KEY       goes up and down",
          "gcounter incr KEY [N] | gcounter get KEY          only goes up",
          "register set KEY VALUE | register get KEY         the latest assignment wins",
          "mvregister set KEY VALUE | mvregister get KEY     concurrent values are all kept",
          "min set KEY VALUE | max set KEY VALUE             the least, or the greatest value",
          "string set|append KEY TEXT | string get|size KEY  bytes; the latest assignment wins",
          "string incr|decr KEY [N]                          where it is a number; all add up",
          "string setrange KEY OFFSET TEXT | string setbit KEY OFFSET 0|1",
          "ewflag on|off|get KEY                             concurrently enabled and disabled: on",
          "dwflag on|off|get KEY                             concurrently enabled and disabled:"
              + " off",
          "set add|remove KEY E... | set has KEY E | set size|get KEY    concurrent adding wins",
          "rwset, lwwset, lwwset-remove                      as set; removing wins, or the latest",
          "gset add KEY E... | gset has KEY E | gset size|get KEY        only grows",
          "set range KEY [from|after E] [to|before E] [last] [N]   elements in their order",
          "map range KEY [from|after F] [to|before F] [last] [N]   fields in that of their names",
          "map set KEY FIELD=VALUE...                        registers in fields, all at once",
          "map update KEY FIELD TYPE OP ARGS...              any type, e.g. f counter incr 3",
          "map remove KEY FIELD... | map get KEY [FIELD...] | map size KEY",
          "bcounter create KEY LOWER UPPER                   keeps its bounds (- for none)",
          "bcounter incr|decr KEY [N [WAIT_MS]] | bcounter give KEY DC N [up|down]",
          "bcounter get KEY | bcounter rights KEY            who may subtract and add how much",
          "TYPE clear KEY                                    resets the object as far as it is"
              + " seen",
          "returning TYPE OP KEY ARGS...                     any update, and what it made, changed"
              + " or replaced",
          "ifabsent TYPE OP KEY ARGS...                      an update if nothing is there",
          "ifvalue VALUE register|string set KEY NEW         an update if that is the value",
          "for SECONDS [ifabsent] TYPE OP KEY ARGS...        an update, and with it a time to live",
          "eachfor SECONDS TYPE OP KEY ARGS...               a time to live of what it adds or"
              + " sets",
          "TYPE expire KEY SECONDS PART... | TYPE persist KEY PART... | TYPE ttl KEY PART",
          "                                                  of elements, or fields of a map",
          "",
          "get KEY | exists KEY | type KEY | del KEY...      whatever the keys hold",
          "expire KEY SECONDS | expireat KEY TIME | persist KEY | ttl KEY",
          "scan [FROM [LIMIT]]                               objects in the order of their keys",
          "keys [PREFIX [LIMIT]] | count [PREFIX [TYPE]]     without values; '' is every prefix",
          "watch KEY [N] | watch PREFIX* [N]                 a line for each change, N or until ^C",
          "begin [SECONDS] | commit | abort                  a transaction (causal keyspaces)",
          "use [KEYSPACE]                                    the keyspace of what follows",
          "stat | hot [N] | peers                            what the datacenter is doing",
          "top [--once] [--json]                             all datacenters, live; q ends it",
          "keyspace list | keyspace create NAME [SETTING=VALUE...]",
          "keyspace alter NAME SETTING=VALUE... | keyspace drop NAME    at all datacenters",
          "dc list | dc add NAME HOST:PORT | dc remove NAME [--dead]    the datacenters",
          "user list | user create NAME [RIGHT, ...] | user passwd NAME | user drop NAME",
          "user grant NAME RIGHT | user revoke NAME RIGHT    e.g. write shop cart:",
          "help | exit",
          "",
          "A VALUE or element is a long (42), a double (4.2), bytes (0xCAFE) or else a string.",
          "Or its type stands before it: int:42, real:1e3, real:NaN, bytes:0xCAFE, str:42.",
          "Quotes keep blanks together (city='New York'); '42' in single quotes is a string,",
          "and so is $'a\\nb', with escapes. A KEY is a string, or bytes:0xFF.",
          "What is printed is written so, too, and means the same when it is given again.");

  /** One command. */
  sealed interface Action {}

  /**
   * Updates an object.
   *
   * @param ask what to show of it; empty for nothing
   * @param condition what must hold for it to be done; empty for nothing
   */
  record Update(
      Key key,
      CrdtType type,
      Operation operation,
      Optional<Request.Ask> ask,
      Optional<Request.Condition> condition)
      implements Action {
    /** An update without a condition, which shows nothing. */
    Update(Key key, CrdtType type, Operation operation) {
      this(key, type, operation, Optional.empty(), Optional.empty());
    }
  }

  /** Reads an object. */
  record Read(Key key, Optional<CrdtType> type, Query query) implements Action {}

  /** Reads many. */
  record Scan(Optional<Key> from, int limit) implements Action {}

  /** Shows keys and their types. */
  record Keys(io.osier.proxy.Scan of, int limit) implements Action {}

  /** Counts objects. */
  record Count(io.osier.proxy.Scan of, Optional<CrdtType> type) implements Action {}

  /** Begins or ends a transaction. */
  record Transact(String verb, int seconds) implements Action {}

  /** Asks whether a key holds something. */
  record Exists(Key key) implements Action {}

  /** Asks of which type a key's object is. */
  record Type(Key key) implements Action {}

  /** Removes what keys hold, of whatever type. */
  record Delete(List<String> keys) implements Action {}

  /** Lets a key expire after some seconds, or at a time. */
  record Expire(String key, Optional<Duration> after, Optional<Instant> at) implements Action {}

  /** Lets a key live on. */
  record Persist(String key) implements Action {}

  /** Asks how long a key lives on. */
  record TimeToLive(String key) implements Action {}

  /** Asks how long an element or field lives on. */
  record PartTimeToLive(Key key, CrdtType type, Part part) implements Action {}

  /** Chooses the keyspace; empty to hear which there are. */
  record Use(Optional<String> keyspace) implements Action {}

  /** Asks what the datacenter does. */
  record Inspect(String topic, int limit) implements Action {}

  /** Changes or shows what holds for all datacenters: keyspaces, or which datacenters there are. */
  record Administer(String subject, String action, String name, SortedMap<String, String> settings)
      implements Action {}

  /**
   * Changes or shows who may do what.
   *
   * @param rights what the command gives or takes
   */
  record ManageUser(String action, String name, List<Grant> rights) implements Action {}

  /** The first words of commands that do not begin with a type. */
  static final List<String> COMMANDS =
      List.of(
          "returning",
          "ifabsent",
          "ifvalue",
          "for",
          "eachfor",
          "get",
          "exists",
          "type",
          "del",
          "expire",
          "expireat",
          "persist",
          "ttl",
          "scan",
          "keys",
          "count",
          "begin",
          "commit",
          "abort",
          "use",
          "stat",
          "hot",
          "peers",
          "keyspace",
          "dc",
          "user",
          "help",
          "exit");

  /** Of a datacenter that is removed: it does not run any more, and will not. */
  private static final String DEAD = "--dead";

  private static final List<String> REMOVAL = List.of("dc", "remove");

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
  static Action parse(List<Word> words) {
    if (words.isEmpty()) {
      throw bad("a command is missing; try help");
    }
    String first = words.getFirst().text();
    return switch (first) {
      case "get" -> {
        arguments(words, 2, 2, "get KEY");
        yield new Read(key(words.get(1)), Optional.empty(), new Query.Whole());
      }
      case "exists" -> {
        arguments(words, 2, 2, "exists KEY");
        yield new Exists(key(words.get(1)));
      }
      case "type" -> {
        arguments(words, 2, 2, "type KEY");
        yield new Type(key(words.get(1)));
      }
      case "del" -> {
        arguments(words, 2, Integer.MAX_VALUE, "del KEY...");
        yield new Delete(words.subList(1, words.size()).stream().map(Words::textKey).toList());
      }
      case "expire" -> {
        arguments(words, 3, 3, "expire KEY SECONDS");
        yield new Expire(
            textKey(words.get(1)), Optional.of(seconds(words.get(2))), Optional.empty());
      }
      case "expireat" -> {
        arguments(words, 3, 3, "expireat KEY TIME");
        yield new Expire(textKey(words.get(1)), Optional.empty(), Optional.of(time(words.get(2))));
      }
      case "persist" -> {
        arguments(words, 2, 2, "persist KEY");
        yield new Persist(textKey(words.get(1)));
      }
      case "ttl" -> {
        arguments(words, 2, 2, "ttl KEY");
        yield new TimeToLive(textKey(words.get(1)));
      }
      case "use" -> {
        arguments(words, 1, 2, "use [KEYSPACE]");
        yield new Use(words.size() > 1 ? Optional.of(words.get(1).text()) : Optional.empty());
      }
      case "scan" -> {
        arguments(words, 1, 3, "scan [FROM [LIMIT]]");
        yield new Scan(
            words.size() > 1 ? Optional.of(key(words.get(1))) : Optional.empty(),
            words.size() > 2 ? amount(words.get(2)) : SCAN_LIMIT);
      }
      case "keys" -> {
        arguments(words, 1, 3, "keys [PREFIX [LIMIT]]");
        yield new Keys(prefix(words), words.size() > 2 ? amount(words.get(2)) : SCAN_LIMIT);
      }
      case "count" -> {
        arguments(words, 1, 3, "count [PREFIX [TYPE]]");
        yield new Count(
            prefix(words),
            words.size() > 2
                ? Optional.of(CrdtType.ofLabel(words.get(2).text()))
                : Optional.empty());
      }
      case "begin" -> {
        arguments(words, 1, 2, "begin [SECONDS]");
        yield new Transact("begin", words.size() > 1 ? amount(words.get(1)) : LIMIT_SECONDS);
      }
      case "commit", "abort" -> {
        arguments(words, 1, 1, first);
        yield new Transact(first, 0);
      }
      case "keyspace" -> administer(words);
      case "dc" -> datacenters(words);
      case "user" -> manageUser(words);
      case "stat", "peers" -> {
        arguments(words, 1, 1, first);
        yield new Inspect(first, 0);
      }
      case "hot" -> {
        arguments(words, 1, 2, "hot [N]");
        yield new Inspect("hot", words.size() > 1 ? amount(words.get(1)) : HOT_LIMIT);
      }
      case "returning" -> {
        Update u = update(words, 1, "returning counter incr KEY 3");
        yield new Update(
            u.key, u.type, u.operation, Optional.of(asked(u.operation)), Optional.empty());
      }
      case "ifabsent" -> {
        Update u = update(words, 1, "ifabsent register set KEY VALUE");
        yield conditional(u, TypeRegistry.empty(u.type).read(new Query.Whole()));
      }
      case "ifvalue" -> {
        Update u = update(words, 2, "ifvalue OLD register set KEY NEW");
        if (u.type != CrdtType.LWW_REGISTER && u.type != CrdtType.STRING) {
          throw bad(
              "'ifvalue' is for a register or string, for example: ifvalue OLD register set KEY"
                  + " NEW");
        }
        Word old = words.get(1);
        yield conditional(
            u,
            new Reading.Single(
                Optional.of(u.type == CrdtType.STRING ? Value.of(old.text()) : value(old))));
      }
      case "for" -> {
        if (words.size() < 4 || !(parse(words.subList(2, words.size())) instanceof Update u)) {
          throw bad("usage: for SECONDS, and an update, as in: for 30 register set KEY VALUE");
        }
        Keyspace.Change lasting =
            new Keyspace.Change(u.key, u.type, u.operation).expiring(seconds(words.get(1)));
        yield new Update(u.key, u.type, lasting.operation(), u.ask, u.condition);
      }
      case "eachfor" -> {
        String usage = "usage: eachfor SECONDS, and an update, as in: eachfor 30 set add KEY E";
        if (words.size() < 4 || !(parse(words.subList(2, words.size())) instanceof Update u)) {
          throw bad(usage);
        }
        Keyspace.Change lasting =
            new Keyspace.Change(u.key, u.type, u.operation).partsExpiring(seconds(words.get(1)));
        yield new Update(u.key, u.type, lasting.operation(), u.ask, u.condition);
      }
      default -> ObjectGrammar.parse(type(first), words);
    };
  }

  /** Those of a prefix, which is the second word; all where it is left out, or empty. */
  private static io.osier.proxy.Scan prefix(List<Word> words) {
    return words.size() < 2 || words.get(1).text().isEmpty()
        ? io.osier.proxy.Scan.all()
        : io.osier.proxy.Scan.prefix(key(words.get(1)));
  }

  /** The update that begins at a word. */
  private static Update update(List<Word> words, int at, String example) {
    if (words.size() > at
        && ObjectGrammar.parse(type(words.get(at).text()), words.subList(at, words.size()))
            instanceof Update update) {
      return update;
    }
    throw bad("after '" + words.getFirst().text() + "' comes an update, for example: " + example);
  }

  private static Update conditional(Update update, Reading expected) {
    Request.Condition condition = new Request.Condition(List.of(), new Query.Whole(), expected);
    return new Update(
        update.key, update.type, update.operation, Optional.empty(), Optional.of(condition));
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

  /** The type of a label; commands are named, too, where there is none. */
  private static CrdtType type(String label) {
    try {
      return CrdtType.ofLabel(label);
    } catch (OsierException e) {
      throw bad(e.getMessage() + "; other commands are " + String.join(", ", COMMANDS));
    }
  }

  private static ManageUser manageUser(List<Word> words) {
    String usage =
        "user list | user create NAME [RIGHT, ...] | user passwd NAME | user grant NAME RIGHT |"
            + " user revoke NAME RIGHT | user drop NAME";
    arguments(words, 2, Integer.MAX_VALUE, usage);
    String action = words.get(1).text();
    switch (action) {
      case "list" -> arguments(words, 2, 2, "user list");
      case "create" -> arguments(words, 3, Integer.MAX_VALUE, usage);
      case "passwd", "drop" -> arguments(words, 3, 3, "user " + action + " NAME");
      case "grant", "revoke" ->
          arguments(
              words, 5, Integer.MAX_VALUE, "user " + action + " NAME RIGHT KEYSPACE [PREFIX]");
      default -> throw bad("user has no '" + action + "'; it is " + usage);
    }
    String text =
        words.subList(Math.min(3, words.size()), words.size()).stream()
            .map(Word::text)
            .collect(Collectors.joining(" "));
    List<Grant> rights = new ArrayList<>();
    // One of a grant may have a comma in its prefix; of a creation they part several rights.
    for (String right : action.equals("create") ? text.split(",", -1) : new String[] {text}) {
      if (!right.isBlank()) {
        rights.add(Grant.parse(right));
      }
    }
    return new ManageUser(action, words.size() > 2 ? words.get(2).text() : "", rights);
  }

  private static Administer administer(List<Word> words) {
    String usage =
        "keyspace list | keyspace create NAME [SETTING=VALUE...] | keyspace alter NAME"
            + " SETTING=VALUE... | keyspace drop NAME";
    arguments(words, 2, Integer.MAX_VALUE, usage);
    String action = words.get(1).text();
    switch (action) {
      case "list" -> arguments(words, 2, 2, "keyspace list");
      case "create" -> arguments(words, 3, Integer.MAX_VALUE, usage);
      case "alter" -> arguments(words, 4, Integer.MAX_VALUE, usage);
      case "drop" -> arguments(words, 3, 3, "keyspace drop NAME");
      default -> throw bad("keyspace has no '" + action + "'; it is " + usage);
    }
    SortedMap<String, String> settings = new TreeMap<>();
    for (Word word : words.subList(Math.min(3, words.size()), words.size())) {
      int equals = word.text().indexOf('=');
      if (equals < 1) {
        throw bad(
            "'" + word.text() + "' is no setting: it must be NAME=VALUE, for example sla=500ms");
      }
      String name = word.text().substring(0, equals);
      if (settings.put(name, word.text().substring(equals + 1)) != null) {
        throw bad("the setting '" + name + "' is given twice");
      }
    }
    String name = words.size() > 2 ? words.get(2).text() : "";
    return new Administer("keyspace", action, name, settings);
  }

  private static Administer datacenters(List<Word> words) {
    String usage = "dc list | dc add NAME HOST:PORT | dc remove NAME [" + DEAD + "]";
    arguments(words, 2, Integer.MAX_VALUE, usage);
    String action = words.get(1).text();
    List<String> rest = new ArrayList<>(texts(words.subList(2, words.size())));
    SortedMap<String, String> settings = new TreeMap<>();
    switch (action) {
      case "list" -> arguments(words, 2, 2, "dc list");
      case "add" -> {
        arguments(words, 4, 4, "dc add NAME HOST:PORT");
        settings.put("address", address(rest.get(1)));
      }
      case "remove" -> {
        if (rest.remove(DEAD)) {
          settings.put("dead", "true");
        }
        if (rest.size() != 1) {
          throw bad("usage: dc remove NAME [" + DEAD + "]");
        }
      }
      default -> throw bad("dc has no '" + action + "'; it is " + usage);
    }
    return new Administer("dc", action, rest.isEmpty() ? "" : rest.getFirst(), settings);
  }

  /** Whether a word that looks like an option belongs to a command and is not mistyped. */
  public static boolean isOption(List<String> words, String word) {
    return word.equals(DEAD) && words.size() > 2 && words.subList(0, 2).equals(REMOVAL);
  }

  /** Where other datacenters dial one. */
  private static String address(String text) {
    if (HostPort.parse(text).isEmpty()) {
      throw bad(
          "'"
              + text
              + "' is no address: it must be HOST:PORT, where the other datacenters dial this one,"
              + " with a port from 1 to 65535, for example eu.example:7401");
    }
    return text;
  }
}
