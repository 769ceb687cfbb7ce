package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Explains why data of one datacenter, or of all, is late: a verdict in one line, what waits where,
 * what each datacenter counted and decided, and commands that help. Pure.
 */
final class WhyCluster {
  private final ClusterLook look;
  private final Optional<String> about;
  private final String client;
  private final List<ClusterLook.Way> ways;

  /**
   * Makes the explanation.
   *
   * @param about the datacenter of the question; empty for all
   * @param client the client address of the datacenter that was asked
   */
  WhyCluster(ClusterLook look, Optional<String> about, String client) {
    this.look = look;
    this.about = about;
    this.client = client;
    this.ways =
        look.ways().stream()
            .filter(w -> about.isEmpty() || isAbout(w.from()) || isAbout(w.to()))
            .toList();
  }

  /** Returns whether the datacenter of the question exists. */
  boolean isKnown() {
    return about.filter(look::has).isPresent();
  }

  private boolean isAbout(String dc) {
    return about.filter(dc::equals).isPresent();
  }

  private List<ClusterLook.Way> cut() {
    return ways.stream().filter(w -> !w.connected()).toList();
  }

  /** Returns the verdict in one line. */
  String verdict() {
    List<ClusterLook.Way> cut = cut();
    String silent = silent();
    if (!cut.isEmpty()) {
      long waits = cut.stream().mapToLong(ClusterLook.Way::lagUpdates).max().orElse(0);
      long oldest = cut.stream().mapToLong(ClusterLook.Way::lagMillis).max().orElse(0);
      String links =
          cut.stream().map(w -> w.from() + " → " + w.to()).collect(Collectors.joining(", "));
      return (waits == 0 ? "CUT: " : "LATE: ")
          + (cut.size() == 1 ? "the link " : "the links ")
          + links
          + (cut.size() == 1 ? " is cut" : " are cut")
          + (waits == 0
              ? "; nothing waits yet."
              : "; up to %s updates wait, the oldest for %s."
                  .formatted(Durations.number(waits), Durations.text(oldest)))
          + silent;
    }
    Optional<ClusterLook.Way> late =
        ways.stream()
            .filter(ClusterLook.Way::isLate)
            .max((a, b) -> Long.compare(a.lagMillis(), b.lagMillis()));
    if (late.isPresent()) {
      ClusterLook.Way w = late.get();
      return "LATE: %s lacks %s of %s beyond the bound, the oldest for %s: %s."
              .formatted(
                  w.to(),
                  Durations.updates(w.overdueUpdates()),
                  w.from(),
                  Durations.text(w.lagMillis()),
                  hindrance(w.to())
                      .map(problem -> problem.path("what").asText())
                      .orElse(
                          w.stream().equals("streaming")
                              ? "the link is up, but the way or " + w.to() + " is slow"
                              : "it catches up with what it missed"))
          + silent;
    }
    for (JsonNode problem : problems()) {
      if (!problem.path("level").asText().equals("note")) {
        return problem.path("what").asText() + silent;
      }
    }
    if (!silent.isEmpty()) {
      return "Nothing waits at the datacenters that answer." + silent;
    }
    return (look.datacenters() == 1
            ? look.asked() + " is the only datacenter"
            : "Nothing is late: "
                + Durations.listed(about.map(Set::of).orElseGet(this::names))
                + (about.isEmpty() && look.datacenters() > 1 ? " are connected" : " is connected")
                + ", and nothing has waited longer than the bound")
        + ".";
  }

  private Set<String> names() {
    Set<String> names = new TreeSet<>(look.addresses().keySet());
    names.add(look.asked());
    return names;
  }

  private String silent() {
    return look.silent().isEmpty()
        ? ""
        : " "
            + Durations.listed(look.silent())
            + " could not be asked: no datacenter that answers reaches "
            + (look.silent().size() == 1 ? "it." : "them.");
  }

  private List<JsonNode> problems() {
    List<JsonNode> problems = new ArrayList<>();
    look.answers()
        .forEach(
            (dc, status) -> {
              if (about.isEmpty() || isAbout(dc)) {
                status.path("problems").forEach(problems::add);
              }
            });
    return problems;
  }

  /** Returns why a datacenter takes no updates, as it says itself; empty if it takes them. */
  private Optional<JsonNode> hindrance(String dc) {
    JsonNode status = look.answers().get(dc);
    if (status == null) {
      return Optional.empty();
    }
    for (JsonNode problem : status.path("problems")) {
      if (isHindrance(problem) && problem.path("level").asText().equals("error")) {
        return Optional.of(problem);
      }
    }
    return Optional.empty();
  }

  private static boolean isHindrance(JsonNode problem) {
    return problem.path("about").asText().endsWith(" ready");
  }

  /** Returns which datacenters do not serve fully, why, and what helps: a line each. */
  List<String> hindered() {
    return problems().stream().filter(WhyCluster::isHindrance).map(WhyCluster::withHelp).toList();
  }

  private static String withHelp(JsonNode problem) {
    String what = problem.path("what").asText();
    return what + (what.endsWith(".") ? " " : ": ") + problem.path("help").asText();
  }

  String text() {
    StringBuilder text = new StringBuilder(verdict());
    if (!ways.isEmpty()) {
      Table table = new Table("link", "state", "what waits");
      ways.forEach(w -> table.add(w.from() + " → " + w.to(), w.state(), w.waits()));
      text.append("\n\n").append(table);
    }
    Table counted =
        new Table(
            "counted at", "keyspace", "bound", "updates", "hot, as states", "late", "why late");
    look.answers()
        .forEach(
            (dc, status) -> {
              if (about.isEmpty() || isAbout(dc)) {
                status.path("keyspaces").forEach(k -> counted(counted, dc, k));
              }
            });
    if (!counted.isEmpty()) {
      text.append("\n\n").append(counted);
    }
    ClusterLook.appendHelps(text, helps());
    return text.toString();
  }

  private static void counted(Table table, String dc, JsonNode k) {
    JsonNode late = k.path("late");
    long origin = late.path("origin").asLong();
    long way = late.path("way").asLong();
    long dependency = late.path("dependency").asLong();
    long outage = late.path("outage").asLong();
    List<String> why = new ArrayList<>();
    add(why, origin, "left too late");
    add(why, way, "long under way");
    add(why, dependency, "waited for what they build on");
    add(why, outage, "after a cut");
    boolean decides = k.path("propagation").asText().equals("adaptive");
    table.add(
        dc,
        k.path("name").asText(),
        Durations.text(k.path("sla_ms").asLong()),
        Durations.number(k.path("updates").asLong()),
        decides
            ? k.path("state_objects").asLong()
                + " of "
                + Durations.number(k.path("objects").asLong())
            : "propagation = " + k.path("propagation").asText(),
        Durations.number(origin + way + dependency + outage),
        String.join(", ", why));
  }

  private static void add(List<String> why, long count, String what) {
    if (count > 0) {
      why.add(Durations.number(count) + " " + what);
    }
  }

  private List<String> helps() {
    List<String> helps = new ArrayList<>();
    Set<String> gone = new TreeSet<>();
    for (ClusterLook.Way w : cut()) {
      helps.add(look.reach(w.from(), w.to()));
      gone.add(w.to());
    }
    for (String dc : look.silent()) {
      helps.add("at " + dc + ": see that it runs, and what its log says last");
    }
    for (String dc : gone) {
      if (look.silent().contains(dc)) {
        helps.add(
            "if %s never comes back: osier cli --connect %s dc remove %s --dead"
                .formatted(dc, client, dc));
      }
    }
    for (JsonNode problem : problems()) {
      boolean isOfLink = problem.path("about").asText().contains(" link ");
      String help = problem.path("help").asText();
      if (!isOfLink && !help.isEmpty() && !problem.path("level").asText().equals("note")) {
        helps.add(withHelp(problem));
      }
    }
    return helps.stream().distinct().toList();
  }

  String json() {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("verdict", verdict());
    root.put("asked", look.asked());
    look.silent().forEach(root.putArray("silent")::add);
    ArrayNode links = root.putArray("links");
    for (ClusterLook.Way w : ways) {
      w.addTo(links).put("late", w.isLate() || (!w.connected() && w.lagUpdates() > 0));
    }
    ObjectNode statuses = root.putObject("datacenters");
    for (Map.Entry<String, JsonNode> e : look.answers().entrySet()) {
      if (about.isEmpty() || isAbout(e.getKey())) {
        statuses.set(e.getKey(), e.getValue());
      }
    }
    helps().forEach(root.putArray("helps")::add);
    return root.toString();
  }
}
