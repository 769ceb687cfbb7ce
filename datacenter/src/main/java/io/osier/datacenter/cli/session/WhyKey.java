package io.osier.datacenter.cli.session;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Explains why a key's updates are late somewhere, or how they are shipped: a verdict in one line,
 * what waits where, what each datacenter counted and decided, and commands that help. Pure.
 */
final class WhyKey {
  private final ClusterLook look;
  private final String key;
  private final String keyspace;

  /** The keyspace, or its home, that holds the key. */
  private final String home;

  private final String client;

  /** A cause; lower ranks are worse. */
  private record Cause(int rank, String verdict, Optional<String> help) {}

  private final List<Cause> causes = new ArrayList<>();
  private long boundMillis;

  /**
   * Makes the explanation.
   *
   * @param key the key as it was typed
   * @param keyspace the keyspace that was asked about, as commands name it
   * @param client the client address of the datacenter that was asked
   */
  WhyKey(ClusterLook look, String key, String keyspace, String client) {
    this.look = look;
    this.key = key;
    this.keyspace = keyspace;
    this.home = look.keyspace().orElse(keyspace);
    this.client = client;
    look.answers().forEach(this::find);
    for (String dc : look.copied()) {
      cause(7, "%s does not hold it, and answers reads from a copy of it.".formatted(dc));
    }
    causes.sort((a, b) -> Integer.compare(a.rank, b.rank));
  }

  private void cause(int rank, String verdict, String... help) {
    causes.add(
        new Cause(rank, verdict, help.length == 0 ? Optional.empty() : Optional.of(help[0])));
  }

  private void find(String dc, JsonNode said) {
    boundMillis = Math.max(boundMillis, said.path("sla_ms").asLong());
    if (said.has("silent")) {
      cause(
          3,
          "%s: %s.".formatted(dc, said.path("silent").asText()),
          at(dc, "jcmd PID Thread.print"));
      return;
    }
    for (JsonNode o : said.path("objects")) {
      for (JsonNode m : o.path("missing")) {
        missing(dc, m);
      }
      for (JsonNode w : o.path("waiting")) {
        cause(
            2,
            "LATE: %s updates of %s have come to %s and wait for %s, for %s now."
                .formatted(
                    Durations.number(w.path("updates").asLong()),
                    w.path("from").asText(),
                    dc,
                    w.path("needs").asText().isEmpty() ? "others" : w.path("needs").asText(),
                    Durations.text(w.path("ms").asLong())),
            why(w.path("from").asText()));
      }
      if (o.path("rights_waiting").asInt() > 0) {
        cause(
            2,
            "WAITS: %d updates at %s wait for rights of the bounded counter that others have."
                .formatted(o.path("rights_waiting").asInt(), dc),
            "osier cli --connect %s --keyspace %s bcounter rights %s"
                .formatted(client, keyspace, key));
      }
      if (o.has("held")) {
        cause(
            6,
            "Nothing is late: %s holds %s of it on purpose, and sends them in %s (bound %s)."
                .formatted(
                    dc,
                    Durations.updates(o.path("held").path("updates").asLong()),
                    Durations.text(o.path("held").path("leaves_in_ms").asLong()),
                    Durations.text(said.path("sla_ms").asLong())));
      }
    }
    if (said.path("waiting_updates").asLong() > 0) {
      List<String> by = new ArrayList<>();
      said.path("cut_held_back_by").forEach(b -> by.add(b.asText()));
      cause(
          by.isEmpty() ? 5 : 2,
          "%s updates have come to %s and wait for the rest of their cut%s."
              .formatted(
                  Durations.number(said.path("waiting_updates").asLong()),
                  dc,
                  by.isEmpty() ? "" : ", which " + Durations.listed(by) + " holds back"),
          why(by.isEmpty() ? dc : by.getFirst()));
    }
    for (JsonNode p : said.path("peers")) {
      peer(dc, p);
    }
    if (said.path("parked").asInt() > 0) {
      cause(
          4,
          "%d requests at %s wait for what their sessions have seen elsewhere."
              .formatted(said.path("parked").asInt(), dc),
          why(dc));
    }
  }

  private void missing(String dc, JsonNode m) {
    String to = m.path("dc").asText();
    long cutMillis = m.path("cut_ms").asLong();
    long millis = m.path("ms").asLong();
    String what =
        "%s lacks %s of %s".formatted(to, Durations.updates(m.path("updates").asLong()), dc);
    if (look.answers().containsKey(to) && contents(to).equals(contents(dc))) {
      cause(
          5,
          cutMillis > 0
              ? "The link %s → %s has been cut for %s; a third datacenter has brought it there."
                  .formatted(dc, to, Durations.text(cutMillis))
              : "%s has it, and %s has not heard of that yet.".formatted(to, dc),
          cutMillis > 0 ? look.reach(dc, to) : why(to));
    } else if (cutMillis > 0) {
      cause(
          1,
          "LATE: %s: the link %s → %s has been cut for %s."
              .formatted(what, dc, to, Durations.text(cutMillis)),
          look.reach(dc, to));
    } else if (millis > boundMillis) {
      cause(
          2,
          "LATE: %s for %s, longer than the bound of %s, though the link is up."
              .formatted(what, Durations.text(millis), Durations.text(boundMillis)),
          why(to));
    } else {
      cause(7, "Nothing is late: %s, under way for %s.".formatted(what, Durations.text(millis)));
    }
  }

  /**
   * Adds what a peer lacks of the partition as a whole, since it may concern this key where it is
   * not counted by key.
   */
  private void peer(String dc, JsonNode p) {
    String to = p.path("dc").asText();
    long lag = p.path("lag_updates").asLong();
    long overdue = p.path("overdue_updates").asLong();
    boolean connected = p.path("connected").asBoolean();
    if (!connected) {
      cause(
          lag > 0 ? 4 : 5,
          "The link %s → %s is cut; %s of other keys wait for it."
              .formatted(dc, to, lag == 0 ? "no updates" : "up to " + Durations.updates(lag)),
          look.reach(dc, to));
    } else if (overdue > 0) {
      cause(
          4,
          "%s %s: it has lacked %s of other keys for %s."
              .formatted(
                  to,
                  p.path("stream").asText().equals("streaming") ? "is slow" : "catches up",
                  Durations.updates(overdue),
                  Durations.text(p.path("lag_ms").asLong())),
          why(to));
    }
  }

  private String why(String dc) {
    return "osier cli --connect %s why %s".formatted(client, dc);
  }

  private static String at(String dc, String what) {
    return "at " + dc + ": " + what;
  }

  /** Returns the verdict in one line. */
  String verdict() {
    String silent =
        look.silent().isEmpty()
            ? ""
            : " " + Durations.listed(look.silent()) + " could not be asked.";
    if (!causes.isEmpty() && causes.getFirst().rank < 4) {
      return causes.getFirst().verdict + silent;
    }
    if (look.answers().isEmpty()) {
      return "No datacenter that was asked holds '%s', so nothing is known of the key."
              .formatted(home)
          + silent;
    }
    Set<String> contents = contents();
    String but = causes.isEmpty() ? "" : " " + causes.getFirst().verdict;
    if (contents.equals(Set.of(""))) {
      return "There is no '%s' in '%s' at %s.".formatted(key, home, who()) + but + silent;
    }
    if (contents.size() == 1) {
      String same = look.answers().size() == 1 ? who() + " has it" : who() + " have the same";
      return "Nothing of '%s' waits: %s.".formatted(key, same) + but + silent;
    }
    return (causes.isEmpty()
            ? "The datacenters differ, and nothing is known to wait: ask again, it may be under"
                + " way."
            : but.strip())
        + silent;
  }

  private String who() {
    return Durations.listed(look.answers().keySet());
  }

  /** Returns the different contents of the datacenters, as far as they can be compared. */
  private Set<String> contents() {
    Set<String> contents = new TreeSet<>();
    look.answers().keySet().forEach(dc -> contents.add(contents(dc)));
    return contents;
  }

  private String contents(String dc) {
    StringBuilder one = new StringBuilder();
    for (JsonNode h : requireNonNull(look.answers().get(dc)).path("holds")) {
      String sha = h.path("sha256").asText();
      // An object that is too large to be compared counts as different from all others.
      one.append(h.path("type").asText()).append(' ').append(sha.isEmpty() ? dc : sha).append(' ');
    }
    return one.toString();
  }

  String text() {
    StringBuilder text = new StringBuilder(verdict());
    Table waits = new Table("dc", "holds", "mode", "what waits");
    Table counted = new Table("counted at", "type", "what", "so");
    for (Map.Entry<String, JsonNode> e : look.answers().entrySet()) {
      JsonNode said = e.getValue();
      List<String> holds = new ArrayList<>();
      said.path("holds")
          .forEach(
              h -> holds.add(h.path("type").asText() + ", " + h.path("bytes").asText() + " B"));
      List<String> modes = new ArrayList<>();
      List<String> waiting = new ArrayList<>();
      for (JsonNode o : said.path("objects")) {
        modes.add(o.path("mode").asText());
        waits(waiting, o);
        counted.add(
            e.getKey(),
            o.path("type").asText(),
            o.path("counted").asText(),
            o.path("mode").asText().equals("state")
                ? "held, and sent joined"
                : "each sent at once");
      }
      waits.add(
          e.getKey(),
          holds.isEmpty() ? "nothing" : String.join("; ", holds),
          modes.isEmpty() ? "op" : String.join("; ", modes),
          waiting.isEmpty() ? "nothing" : String.join("; ", waiting));
    }
    look.silent().forEach(dc -> waits.add(dc, "?", "?", "could not be asked"));
    text.append("\n\n").append(waits).append("\n\n");
    boolean isCold = look.answers().values().stream().allMatch(a -> a.path("objects").isEmpty());
    text.append(
        look.answers().isEmpty()
            ? "Ask again once one of them can be asked."
            : isCold
                ? "It changes too rarely to be counted, so each update is sent at once."
                : counted.toString());
    ClusterLook.appendHelps(text, helps());
    return text.toString();
  }

  private static void waits(List<String> waiting, JsonNode o) {
    if (o.has("held")) {
      waiting.add(
          "%s leave in %s"
              .formatted(
                  Durations.updates(o.path("held").path("updates").asLong()),
                  Durations.text(o.path("held").path("leaves_in_ms").asLong())));
    }
    for (JsonNode m : o.path("missing")) {
      long cut = m.path("cut_ms").asLong();
      waiting.add(
          "%s not confirmed by %s%s%s"
              .formatted(
                  Durations.updates(m.path("updates").asLong()),
                  m.path("dc").asText(),
                  " for " + Durations.text(m.path("ms").asLong()),
                  cut > 0 ? ": the link is CUT" : ""));
    }
    for (JsonNode w : o.path("waiting")) {
      waiting.add(
          "%s of %s have waited for %s for %s"
              .formatted(
                  Durations.updates(w.path("updates").asLong()),
                  w.path("from").asText(),
                  w.path("needs").asText(),
                  Durations.text(w.path("ms").asLong())));
    }
    if (o.path("rights_waiting").asInt() > 0) {
      waiting.add(Durations.updates(o.path("rights_waiting").asLong()) + " for rights");
    }
  }

  private List<String> helps() {
    return causes.stream().flatMap(c -> c.help.stream()).distinct().limit(6).toList();
  }

  String json() {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("verdict", verdict());
    root.put("key", key);
    root.put("keyspace", home);
    root.put("late", !causes.isEmpty() && causes.getFirst().rank < 3);
    look.silent().forEach(root.putArray("silent")::add);
    ObjectNode answers = root.putObject("datacenters");
    look.answers().forEach(answers::set);
    helps().forEach(root.putArray("helps")::add);
    return root.toString();
  }
}
