package io.osier.datacenter.admin;

import static java.util.stream.Collectors.toMap;

import io.osier.propagation.host.LateCounts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Finds what is wrong with a datacenter, and says it in words with the command that helps. Pure.
 */
final class HealthChecks {
  /** The severity of a finding. */
  enum Level {
    /** Something does not work. */
    ERROR,
    /** Something works less well than it should. */
    WARNING,
    /** It will recover by itself. */
    NOTE
  }

  /**
   * One finding.
   *
   * @param about a stable name of its subject, by which a reader recognizes the finding when its
   *     numbers change
   * @param what what is wrong, in words
   * @param help a command, or what to do
   */
  record Finding(Level level, String about, String what, String help) {}

  /** Age of metrics from which a partition counts as silent; partitions publish once a second. */
  private static final long SILENT_MILLIS_MIN = 5_000;

  /** Number of keyspaces that a finding about late shipments names. */
  private static final int LATE_KEYSPACES_MAX = 3;

  private final DashboardModel now;
  private final DashboardModel before;
  private final List<Finding> found = new ArrayList<>();

  private HealthChecks(DashboardModel now, DashboardModel before) {
    this.now = now;
    this.before = before;
  }

  /**
   * Returns the findings, worst first.
   *
   * @param before the same datacenter some time ago; {@code now} if nothing older is known
   */
  static List<Finding> of(DashboardModel now, DashboardModel before) {
    HealthChecks findings = new HealthChecks(now, before);
    findings.look();
    return findings.found.stream().sorted(Comparator.comparing(Finding::level)).toList();
  }

  private void look() {
    for (String obstacle : now.obstacles()) {
      boolean catchingUp = obstacle.startsWith("catching up");
      String help =
          catchingUp
              ? now.cli() + " why " + now.dc()
              : obstacle.contains("disk")
                  ? "df -h; make room where osier.store.dir is"
                  : obstacle.contains("not connected: ")
                      ? now.cli() + " why"
                      : now.cli() + " stat --json";
      add(
          catchingUp ? Level.WARNING : Level.ERROR,
          "ready",
          now.dc() + " does not serve fully: " + obstacle,
          help);
    }
    for (String warning : now.warnings()) {
      add(
          Level.WARNING,
          "warning " + warning.replaceFirst(", \\d+ failed reads", ""),
          now.dc() + ": " + warning,
          help(warning));
    }
    now.links().forEach(this::look);
    for (DashboardModel.Space space : now.spaces()) {
      if (space.ageMillis() > SILENT_MILLIS_MIN) {
        add(
            Level.ERROR,
            "silent " + space.name(),
            ("A partition of '%s' at %s has not answered for %s: it hangs, or the machine"
                    + " is overloaded.")
                .formatted(space.name(), now.dc(), millis(space.ageMillis() / 1_000 * 1_000)),
            "the log of " + now.dc() + "; jcmd PID Thread.print");
      }
      earlier(space).ifPresent(earlier -> look(space, earlier));
    }
    lookForLate();
  }

  private String help(String warning) {
    if (warning.startsWith("the clock of ")) {
      return "chronyc tracking, or timedatectl, at both";
    }
    if (warning.contains("peer protocol")) {
      return "docs/OPERATIONS.md, Upgrade";
    }
    if (warning.startsWith("the store is damaged")) {
      return "restart it: it then fetches the damaged part from its peers; if it cannot,"
          + " osier rebuild, or osier restore";
    }
    return warning.contains("is not replicated with")
        ? "osier server --config FILE --check, at both; then restart the one that was wrong"
        : now.cli() + " why";
  }

  private void add(Level level, String about, String what, String help) {
    found.add(new Finding(level, now.dc() + " " + about, what, help));
  }

  private void look(DashboardModel.Link link) {
    String way = now.dc() + " → " + link.dc();
    if (!link.connected()) {
      String waits =
          link.lagUpdates() == 0
              ? "no update waits for it yet"
              : number(link.lagUpdates())
                  + (link.lagUpdates() == 1 ? " update waits" : " updates wait")
                  + " for it, the oldest for "
                  + seconds(link.lagMillis());
      add(
          Level.ERROR,
          "link " + link.dc(),
          "The link "
              + way
              + " is cut: "
              + waits
              + ". Both keep serving, and exchange what they lack when the link is back.",
          now.cli() + " why " + link.dc());
    } else if (link.stream().equals("catching-up") && link.lagUpdates() > 0) {
      add(
          Level.NOTE,
          "link " + link.dc(),
          link.dc()
              + " catches up with "
              + now.dc()
              + ": "
              + number(link.lagUpdates())
              + " updates to go.",
          now.cli() + " why " + link.dc());
    } else if (link.overdueUpdates() > 0) {
      add(
          Level.WARNING,
          "link " + link.dc(),
          "%s has lacked %s of %s for longer than δ, the oldest for %s."
              .formatted(
                  link.dc(),
                  number(link.overdueUpdates())
                      + (link.overdueUpdates() == 1 ? " update" : " updates"),
                  now.dc(),
                  seconds(link.lagMillis())),
          now.cli() + " why " + link.dc());
    }
  }

  /**
   * Looks for shipments that became visible here too late although the links were up: one finding
   * for all keyspaces, since one machine that stalls delays all of them.
   */
  private void lookForLate() {
    Map<String, Long> lateIn = new LinkedHashMap<>();
    LateCounts sum = LateCounts.NONE;
    for (DashboardModel.Space space : now.spaces()) {
      Optional<DashboardModel.Space> earlier = earlier(space);
      LateCounts late = earlier.map(e -> space.late().minus(e.late())).orElse(LateCounts.NONE);
      if (late.violations() > 0) {
        sum = sum.plus(late);
        lateIn.put(
            "in '%s' (δ = %s)".formatted(space.name(), millis(space.slaMillis())),
            late.violations());
      }
    }
    if (lateIn.isEmpty()) {
      return;
    }
    List<String> keyspaces =
        lateIn.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .map(e -> number(e.getValue()) + " " + e.getKey())
            .toList();
    int named = Math.min(LATE_KEYSPACES_MAX, keyspaces.size());
    String others =
        keyspaces.size() > named ? " and in %d more".formatted(keyspaces.size() - named) : "";
    String sender = mostLateFrom();
    String why =
        sum.origin() >= sum.way() && sum.origin() >= sum.dependency()
            ? "sent too late by " + sender + ", whose machine stalls"
            : sum.way() >= sum.dependency()
                ? "long on the way from "
                    + sender
                    + ": the link, or the machine of "
                    + now.dc()
                    + ", stalls"
                : "waiting at "
                    + now.dc()
                    + " for updates that they build on, most of them from "
                    + sender;
    add(
        Level.WARNING,
        "late",
        "%s became visible at %s later than δ in the last %d s: %s%s. Main cause: %s."
            .formatted(
                number(sum.violations()) + (sum.violations() == 1 ? " shipment" : " shipments"),
                now.dc(),
                seconds(),
                String.join(", ", keyspaces.subList(0, named)),
                others,
                why),
        now.cli() + " why " + sender);
  }

  /** Returns the datacenter whose shipments were late most often. */
  private String mostLateFrom() {
    Map<String, Long> former =
        before.links().stream()
            .collect(toMap(DashboardModel.Link::dc, link -> link.late().violations()));
    return now.links().stream()
        .max(
            Comparator.comparingLong(
                link -> link.late().violations() - former.getOrDefault(link.dc(), 0L)))
        .map(DashboardModel.Link::dc)
        .orElse("elsewhere");
  }

  private long seconds() {
    return Math.max(1, Math.round((now.millis() - before.millis()) / 1e3));
  }

  private Optional<DashboardModel.Space> earlier(DashboardModel.Space space) {
    return before.incarnation() != now.incarnation()
        ? Optional.empty()
        : before.spaces().stream().filter(s -> s.name().equals(space.name())).findFirst();
  }

  private void look(DashboardModel.Space space, DashboardModel.Space earlier) {
    String name = "'" + space.name() + "'";
    long refused = space.overloads() - earlier.overloads();
    if (refused > 0) {
      add(
          Level.ERROR,
          "overload " + space.name(),
          "%s refused %s requests of %s in the last %d s (OVERLOADED): more come than it can take."
              .formatted(now.dc(), number(refused), name, seconds()),
          now.cli() + " stat; then more partitions, or fewer requests in flight");
    }
    for (Map.Entry<String, Long> share : space.spent().entrySet()) {
      long spent = share.getValue() - earlier.spent().getOrDefault(share.getKey(), 0L);
      if (spent > 0 && !share.getKey().equals("commands")) {
        add(
            Level.WARNING,
            "memory " + space.name() + " " + share.getKey(),
            "The memory for %s of %s at %s was used up %s times in the last %d s."
                .formatted(share.getKey(), name, now.dc(), number(spent), seconds()),
            "osier.memory."
                + share.getKey()
                + ", or a larger heap; docs/OPERATIONS.md says what follows");
      }
    }
  }

  private static String number(long n) {
    return String.format(Locale.ROOT, "%,d", n);
  }

  private static String seconds(long millis) {
    return String.format(Locale.ROOT, millis < 9_950 ? "%.1f s" : "%.0f s", millis / 1e3);
  }

  private static String millis(long millis) {
    return millis % 1_000 == 0
        ? millis / 1_000 + " s"
        : String.format(Locale.ROOT, "%d ms", millis);
  }
}
