package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.datacenter.partition.machine.PartitionReport;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * Renders a datacenter's status for the dashboard as JSON of at most {@link
 * StatusBoard#STATUS_BYTES_MAX} bytes, whatever the keys are and however many keyspaces there are.
 * Remembers the models of the last half minute, to find what has gone wrong since. Thread-safe.
 */
public final class StatusJson {
  /** Number of hot objects shown of each keyspace, if there is room. */
  static final int HOT = 14;

  /** Most keyspaces shown, which are the busiest. */
  private static final int SPACES_MAX = 16;

  /** Longest text of a key, in characters. */
  private static final int KEY_MAX = 96;

  private static final int FINDINGS_MAX = 12;
  private static final int TEXT_MAX = 400;
  private static final long REMEMBERED_MILLIS = 30_000;

  /** The least time between two remembered models. */
  private static final long APART_MILLIS = 1_000;

  private final Deque<DashboardModel> remembered = new ArrayDeque<>();

  /** Renders a model, which must not be older than that of the call before. */
  public synchronized String of(DashboardModel now) {
    while (!remembered.isEmpty()
        && (now.millis() - remembered.peekFirst().millis() > REMEMBERED_MILLIS
            || remembered.peekFirst().incarnation() != now.incarnation())) {
      remembered.removeFirst();
    }
    DashboardModel before = remembered.isEmpty() ? now : remembered.peekFirst();
    if (remembered.isEmpty() || now.millis() - remembered.peekLast().millis() >= APART_MILLIS) {
      remembered.addLast(now);
    }
    List<HealthChecks.Finding> findings = HealthChecks.of(now, before);
    IntFunction<String> withHot = hot -> json(now, findings, hot).toString();
    String whole = withHot.apply(HOT);
    for (int hot = HOT / 2; tooLarge(whole) && hot > 0; hot /= 2) {
      whole = withHot.apply(hot);
    }
    return tooLarge(whole) ? withHot.apply(0) : whole;
  }

  synchronized int remembered() {
    return remembered.size();
  }

  private static boolean tooLarge(String status) {
    return status.getBytes(StandardCharsets.UTF_8).length > StatusBoard.STATUS_BYTES_MAX;
  }

  private static JsonObject json(DashboardModel now, List<HealthChecks.Finding> findings, int hot) {
    JsonObject root = new JsonObject();
    root.put("dc", now.dc())
        .put("incarnation", now.incarnation())
        .put("uptime_ms", now.uptimeMillis())
        .put("cli", now.cli())
        .put("ready", now.obstacles().isEmpty());
    root.put(
        "problems",
        findings.subList(0, Math.min(FINDINGS_MAX, findings.size())),
        (f, node) ->
            node.put("level", f.level().name().toLowerCase(Locale.ROOT))
                .put("about", cut(f.about(), KEY_MAX))
                .put("what", cut(f.what(), TEXT_MAX))
                .put("help", cut(f.help(), TEXT_MAX)));
    root.put("links", now.links(), StatusJson::link);
    JsonObject.Array spaces = root.putArray("keyspaces");
    now.spaces().stream()
        .sorted(
            Comparator.comparingLong((DashboardModel.Space s) -> s.updates() + s.applied())
                .reversed())
        .limit(SPACES_MAX)
        .forEach(space -> space(spaces.addObject(), space, hot));
    root.put("keyspaces_left_out", Math.max(0, now.spaces().size() - SPACES_MAX));
    root.putObject("copies")
        .put("objects", now.copies().objects())
        .put("hits", now.copies().hits());
    return root;
  }

  private static void link(DashboardModel.Link link, JsonObject node) {
    node.put("dc", link.dc())
        .put("connected", link.connected())
        .put("stream", link.stream())
        .put("lag_updates", link.lagUpdates())
        .put("lag_ms", link.lagMillis())
        .put("overdue_updates", link.overdueUpdates())
        .put("behind_updates", link.behindUpdates())
        .put("unheard_ms", link.unheardMillis())
        .put("in_flight_bytes", link.inFlightBytes())
        .put("sent_bytes", link.sentBytes())
        .put("received_bytes", link.receivedBytes());
  }

  private static void space(JsonObject node, DashboardModel.Space s, int hot) {
    node.put("name", s.name())
        .put("sla_ms", s.slaMillis())
        .put("propagation", s.propagation())
        .put("consistency", s.consistency())
        .put("ready", s.ready())
        .put("updates", s.updates())
        .put("applied", s.applied())
        .put("objects", s.objects())
        .put("dirty_objects", s.dirtyObjects())
        .put("shipped_bytes", s.shippedBytes())
        .put("arrived_bytes", s.arrivedBytes())
        .put("op_bytes", s.opBytes())
        .put("state_objects", s.stateObjects())
        .put("switches", s.switches())
        .put("queued", s.queued())
        .put("overloads", s.overloads());
    node.putObject("timeliness")
        .put("confirmed", s.timeliness().confirmed())
        .put("late", s.timeliness().late())
        .put("overdue", s.timeliness().overdue());
    node.putObject("late")
        .put("origin", s.late().origin())
        .put("way", s.late().way())
        .put("dependency", s.late().dependency())
        .put("outage", s.late().outage());
    JsonObject.Array counts =
        node.putObject("visibility")
            .put("p50_ms", s.visibility().p50Millis())
            .put("p99_ms", s.visibility().p99Millis())
            .put("max_ms", s.visibility().maxMillis())
            .putArray("counts");
    s.visibility().counts().forEach(counts::add);
    node.put("hot", s.hot().subList(0, Math.min(hot, s.hot().size())), StatusJson::hot);
  }

  private static void hot(PartitionReport.Hot h, JsonObject node) {
    node.put("key", cut(h.object().key().toString(), KEY_MAX))
        .put("type", h.object().type().label())
        .put("mode", h.mode())
        .put("rate", Math.round(h.updatesPerSecond() * 10) / 10.0)
        .put("bytes", h.objectBytes())
        .put("op_bytes", Math.round(h.opBytes()));
  }

  private static String cut(String text, int max) {
    return text.length() <= max ? text : text.substring(0, max) + "…";
  }
}
