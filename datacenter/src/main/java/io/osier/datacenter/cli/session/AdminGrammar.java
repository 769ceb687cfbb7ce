package io.osier.datacenter.cli.session;

import static io.osier.datacenter.words.Words.arguments;
import static io.osier.datacenter.words.Words.bad;
import static io.osier.datacenter.words.Words.key;
import static io.osier.datacenter.words.Words.noVerb;
import static io.osier.datacenter.words.Words.texts;

import io.osier.core.Grant;
import io.osier.core.net.HostPort;
import io.osier.datacenter.words.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Parses the commands that show or change datacenters, keyspaces and users. Pure. */
final class AdminGrammar {
  /** Option of a removed datacenter: it does not run any more, and will not run again. */
  static final String DEAD = "--dead";

  private AdminGrammar() {}

  static Grammar.Why why(List<Word> words) {
    arguments(words, 1, 3, "why [DC] | why KEY | why key KEY");
    boolean isKey = words.size() == 3;
    if (isKey && !words.get(1).text().equals("key")) {
      throw bad("why asks about one thing: why [DC] | why KEY | why key KEY");
    }
    return words.size() == 1
        ? new Grammar.Why("", Optional.empty(), false)
        : new Grammar.Why(words.getLast().text(), Optional.of(key(words.getLast())), isKey);
  }

  static Grammar.ManageUser manageUser(List<Word> words) {
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
      default ->
          throw noVerb(
              "user", action, List.of("list", "create", "passwd", "grant", "revoke", "drop"));
    }
    String text =
        words.subList(Math.min(3, words.size()), words.size()).stream()
            .map(Word::text)
            .collect(Collectors.joining(" "));
    List<Grant> rights = new ArrayList<>();
    // Commas separate the rights of a creation; the single right of a grant may have a comma in its
    // prefix.
    for (String right : action.equals("create") ? text.split(",", -1) : new String[] {text}) {
      if (!right.isBlank()) {
        rights.add(Grant.parse(right));
      }
    }
    return new Grammar.ManageUser(action, words.size() > 2 ? words.get(2).text() : "", rights);
  }

  static Grammar.Administer keyspaces(List<Word> words) {
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
      default -> throw noVerb("keyspace", action, List.of("list", "create", "alter", "drop"));
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
    return new Grammar.Administer("keyspace", action, name, settings);
  }

  static Grammar.Administer placement(List<Word> words) {
    String usage =
        "placement | placement why KEYSPACE | placement advise KEYSPACE | placement pin KEYSPACE |"
            + " placement unpin KEYSPACE";
    if (words.size() == 1) {
      return new Grammar.Administer("placement", "list", "", new TreeMap<>());
    }
    String action = words.get(1).text();
    List<String> verbs = List.of("why", "advise", "pin", "unpin");
    if (!verbs.contains(action)) {
      throw noVerb("placement", action, verbs);
    }
    arguments(words, 3, 3, usage);
    String name = words.get(2).text();
    return action.equals("why") || action.equals("advise")
        ? new Grammar.Administer("placement", action, name, new TreeMap<>())
        : new Grammar.Administer(
            "keyspace",
            "alter",
            name,
            new TreeMap<>(Map.of("placement", action.equals("pin") ? "pinned" : "adaptive")));
  }

  static Grammar.Administer datacenters(List<Word> words) {
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
      default -> throw noVerb("dc", action, List.of("list", "add", "remove"));
    }
    return new Grammar.Administer("dc", action, rest.isEmpty() ? "" : rest.getFirst(), settings);
  }

  /** Checks the address at which other datacenters dial one. */
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
