package io.osier.datacenter.cli.session;

import io.osier.crdt.CrdtType;
import io.osier.datacenter.config.ClosestName;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What can be typed, and what is most like a word that cannot. Pure. */
final class HelpText {
  static final int WIDTH = 80;

  /** Where meanings begin. */
  private static final int COLUMN = 34;

  private record Line(String usage, String meaning) {
    boolean names(String word) {
      return Arrays.asList(usage.split("[^a-z-]+")).contains(word);
    }

    /** In two columns; a long usage stands above its meaning. */
    String text() {
      StringBuilder text = new StringBuilder("  ").append(usage);
      int at = text.length();
      if (at > COLUMN - 2) {
        text.append('\n');
        at = 0;
      }
      text.append(" ".repeat(COLUMN - at));
      return text.append(wrapped(meaning, COLUMN)).toString();
    }
  }

  private record Group(String title, List<Line> lines) {}

  private static final List<Group> GROUPS =
      List.of(
          group(
              "One object, by its type",
              "counter incr|decr KEY [N]",
              "adds or subtracts 1, or N, and prints the new value",
              "counter get KEY",
              "reads it; gcounter is the same and only goes up",
              "gcounter incr KEY [N]",
              "adds, and prints the new value",
              "gcounter get KEY",
              "reads it",
              "register set KEY VALUE",
              "the latest assignment wins",
              "register get KEY",
              "reads it",
              "mvregister set KEY VALUE",
              "concurrent values are all kept",
              "mvregister get KEY",
              "reads them",
              "min set KEY VALUE",
              "keeps the least value; max the greatest",
              "min get KEY",
              "reads it; so does max",
              "string set|append KEY TEXT",
              "bytes; the latest assignment wins",
              "string incr|decr KEY [N]",
              "where it is a number; all add up",
              "string setrange KEY OFFSET TEXT",
              "writes over a part",
              "string setbit KEY OFFSET 0|1",
              "writes one bit",
              "string get|size KEY",
              "reads it, or how many bytes it has",
              "ewflag on|off|get KEY",
              "on if it is enabled and disabled concurrently",
              "dwflag on|off|get KEY",
              "off if it is enabled and disabled concurrently",
              "set add|remove KEY ELEMENT...",
              "what is added and removed concurrently is in it; rwset and lwwset-remove remove it,"
                  + " lwwset and lwwset-remove go by the time",
              "set has KEY ELEMENT",
              "whether it is in it",
              "set size|get KEY",
              "reads how many, or all; so do rwset, lwwset, lwwset-remove and gset, which only"
                  + " grows",
              "set range KEY [from|after ELEMENT] [to|before ELEMENT] [last] [N]",
              "reads elements in their order",
              "map set KEY FIELD=VALUE...",
              "assigns registers in fields, all at once",
              "map update KEY FIELD TYPE OP ARGS...",
              "a field of any type: map update KEY f counter incr 3",
              "map remove KEY FIELD...",
              "removes fields",
              "map get KEY [FIELD...]",
              "reads all fields, or some",
              "map size KEY",
              "how many fields there are",
              "map range KEY [from|after FIELD] [to|before FIELD] [last] [N]",
              "reads fields in the order of their names",
              "bcounter create KEY LOWER UPPER [FIRST]",
              "a counter that keeps its bounds, - for none; it starts at FIRST, or at 0",
              "bcounter incr|decr KEY [N [WAIT_MS]]",
              "within the rights of this datacenter, or those it gets in that time",
              "bcounter give KEY DC N [up|down]",
              "gives another datacenter rights to add or to subtract",
              "bcounter get|rights KEY",
              "reads it; who may subtract and add how much",
              "TYPE clear KEY",
              "resets the object as far as it is seen"),
          group(
              "In front of an update, TYPE OP KEY ARGS...",
              "returning UPDATE",
              "prints what it made, changed or replaced",
              "ifabsent UPDATE",
              "does it if nothing is there",
              "ifvalue VALUE UPDATE",
              "does it if a register has that value",
              "for SECONDS UPDATE",
              "gives the object a time to live",
              "eachfor SECONDS UPDATE",
              "gives the elements or fields that it adds a time to live"),
          group(
              "Whatever keys hold",
              "get KEY",
              "reads it",
              "exists|type KEY",
              "whether something is there, and of which type",
              "del KEY...",
              "resets objects",
              "rename OLD NEW",
              "moves what a key holds, in the place of what the other holds",
              "copy FROM TO",
              "as rename, and both hold it",
              "expire KEY SECONDS",
              "gives it a time to live",
              "expireat KEY TIME",
              "until 2030-01-31T12:00:00Z, or seconds since 1970",
              "persist KEY",
              "takes its time to live away",
              "ttl KEY",
              "how long it lives on",
              "TYPE expire KEY SECONDS PART...",
              "the same of a set's elements or a map's fields",
              "TYPE persist KEY PART...",
              "they live on",
              "TYPE ttl KEY PART",
              "how long one lives on"),
          group(
              "Many objects",
              "scan [FROM [LIMIT]]",
              "objects in the order of their keys",
              "keys [PREFIX [LIMIT]]",
              "keys and types; '' is every prefix",
              "count [PREFIX [TYPE]]",
              "how many there are",
              "watch KEY [N]",
              "a line for each change, N or until Ctrl-C",
              "watch PREFIX* [N]",
              "of all keys that begin so",
              "watch KEY from POSITION|beginning",
              "from a watcher's position on, or what there is first",
              "begin [SECONDS]",
              "begins a transaction, in a causal keyspace",
              "commit",
              "makes what was done in it visible, all at once",
              "abort",
              "forgets it, or a program",
              "program",
              "notes the lines up to run: updates and reads of one partition's keys",
              "run",
              "does them in one turn, with nothing between; or none where ifabsent or ifvalue of"
                  + " one does not hold",
              "use [KEYSPACE]",
              "chooses the keyspace of what follows"),
          group(
              "Datacenters",
              "stat",
              "what the datacenter is doing",
              "hot [N]",
              "its objects with the most updates",
              "why [DC]",
              "why data is late, everywhere or on the way to and from one, and what helps",
              "why [key] KEY",
              "why a key's data is late, or in its mode",
              "top [--once]",
              "all datacenters, live; q ends it",
              "keyspace list",
              "the keyspaces",
              "keyspace create NAME [SETTING=VALUE...]",
              "makes one at all datacenters, for example with sla=500ms",
              "keyspace alter NAME SETTING=VALUE...",
              "changes its settings",
              "keyspace drop NAME",
              "removes it with all that is in it",
              "dc list",
              "the datacenters",
              "dc add NAME HOST:PORT",
              "takes one in",
              "dc remove NAME [--dead]",
              "takes one out, also one that will not come back",
              "user list",
              "the users",
              "user create NAME [RIGHT, ...]",
              "asks for the password; a right: write shop cart:",
              "user passwd NAME",
              "gives a user another password",
              "user grant|revoke NAME RIGHT",
              "gives or takes a right",
              "user drop NAME",
              "removes a user"),
          group(
              "This session",
              "help [WORD]",
              "all commands, or those with a word",
              "exit|quit",
              "ends it"));

  private static final String VALUES =
      "A VALUE or ELEMENT is a long (42), a double (4.2), bytes (0xCAFE) or else a string. Its type"
          + " may stand before it: int:42, real:1e3, real:NaN, bytes:0xCAFE, str:42. In quotes it"
          + " is a string: \"42\", city='New York', and with escapes $'a\\nb'. A KEY is a string,"
          + " or bytes:0xFF. What is printed means the same when it is typed again.";

  private HelpText() {}

  private static Group group(String title, String... texts) {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < texts.length; i += 2) {
      lines.add(new Line(texts[i], texts[i + 1]));
    }
    return new Group(title, lines);
  }

  /**
   * What is shown for words behind help: everything for none.
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if there is none
   */
  static String text(List<String> words) {
    StringBuilder text = new StringBuilder();
    for (Group group : GROUPS) {
      List<Line> lines =
          group.lines.stream().filter(l -> words.stream().allMatch(l::names)).toList();
      if (!lines.isEmpty()) {
        text.append(text.isEmpty() ? "" : "\n\n").append(group.title).append(':');
        lines.forEach(line -> text.append('\n').append(line.text()));
      }
    }
    if (words.isEmpty() || words.equals(List.of("values"))) {
      return text.append(text.isEmpty() ? "" : "\n\n").append(wrapped(VALUES, 0)).toString();
    }
    if (!text.isEmpty()) {
      return text.toString();
    }
    if (words.size() == 1) {
      Optional<CrdtType> type =
          Arrays.stream(CrdtType.values())
              .filter(t -> t.label().equals(words.getFirst()))
              .findAny();
      if (type.isPresent()) {
        return wrapped(
            type.get().label()
                + ": "
                + String.join(", ", ObjectGrammar.verbs(type.get()))
                + "; for example: "
                + ObjectGrammar.example(type.get()),
            0);
      }
    }
    String word = String.join(" ", words);
    throw Words.bad("there is no help on '" + word + "'" + similar(word));
  }

  /** What to type instead of a word that is none. */
  static String similar(String word) {
    Set<String> known = new TreeSet<>(Grammar.COMMANDS);
    Stream.of(CrdtType.values()).map(CrdtType::label).forEach(known::add);
    return ClosestName.near(word, known)
        .map(near -> "; did you mean '" + near + "'?")
        .orElse("; 'help' names all commands");
  }

  /** A text in lines that begin at a column, the first of which does already. */
  private static String wrapped(String text, int column) {
    StringBuilder lines = new StringBuilder();
    int at = column;
    for (String word : text.split(" ")) {
      if (at > column && at + 1 + word.length() > WIDTH) {
        lines.append('\n').append(" ".repeat(column));
        at = column;
      } else if (at > column) {
        lines.append(' ');
        at++;
      }
      lines.append(word);
      at += word.length();
    }
    return lines.toString();
  }
}
