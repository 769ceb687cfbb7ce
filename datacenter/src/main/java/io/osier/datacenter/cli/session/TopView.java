package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code top} shows: the rates between two looks at the datacenters, and what the second one
 * saw. Pure.
 *
 * @param keyspaces of all datacenters that answered
 * @param links by who tells of them
 * @param hot of all datacenters, hottest first
 * @param troubles in words, with the datacenter
 */
record TopView(List<Keyspace> keyspaces, List<Link> links, List<Hot> hot, List<String> troubles) {
  private static final int HOT_SHOWN = 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What one datacenter told at one moment; all as its client port tells it. */
  record Look(long nanos, JsonNode stat, JsonNode hot, JsonNode peers) {}

  /**
   * A keyspace at a datacenter.
   *
   * @param shippedPerSecond bytes to all peers
   * @param opPerSecond bytes that the same updates take as single operations
   * @param p99Millis how long shipments of others took to become visible, since the start
   * @param latePerSecond shipments that came later than the bound with the links up
   */
  record Keyspace(
      String dc,
      String name,
      double updatesPerSecond,
      double appliedPerSecond,
      double shippedPerSecond,
      double opPerSecond,
      long stateObjects,
      long slaMillis,
      double p99Millis,
      double latePerSecond,
      long queued,
      double refusedPerSecond) {}

  /** A stream from one datacenter to another, all partitions of a keyspace together. */
  record Link(
      String from,
      String to,
      String keyspace,
      boolean connected,
      String stream,
      long lagUpdates,
      long lagBytes,
      long lagMillis,
      long behindUpdates) {}

  /** A hot object at a datacenter. */
  record Hot(
      String dc,
      String keyspace,
      String key,
      String type,
      String mode,
      double updatesPerSecond,
      long objectBytes) {}

  /**
   * What is to be shown.
   *
   * @param before by datacenter; who is not there, or began anew, has no rates
   * @param now by datacenter
   */
  static TopView between(Map<String, Look> before, Map<String, Look> now) {
    TopView all =
        new TopView(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    now.forEach((name, look) -> all.add(before.get(name), look));
    all.hot.sort(Comparator.comparingDouble(Hot::updatesPerSecond).reversed());
    return all;
  }

  private void add(@Nullable Look before, Look now) {
    String dc = now.stat.get("dc").asText();
    now.stat.path("not_ready_because").forEach(t -> troubles.add(dc + ": " + t.asText()));
    now.stat.path("warnings").forEach(t -> troubles.add(dc + ": " + t.asText()));
    boolean same =
        before != null
            && before.stat.get("incarnation").asLong() == now.stat.get("incarnation").asLong()
            && before.stat.get("uptime_ms").asLong() <= now.stat.get("uptime_ms").asLong();
    for (Map.Entry<String, JsonNode> e : now.stat.get("keyspaces").properties()) {
      JsonNode former =
          before != null && same ? before.stat.get("keyspaces").get(e.getKey()) : null;
      double seconds =
          before != null && same ? Math.max(1e-3, (now.nanos - before.nanos) / 1e9) : 1;
      keyspaces.add(keyspace(dc, e.getKey(), former, e.getValue(), seconds));
    }
    for (Map.Entry<String, JsonNode> e : now.hot.get("keyspaces").properties()) {
      for (JsonNode h : e.getValue().get("hot")) {
        hot.add(
            new Hot(
                dc,
                e.getKey(),
                h.get("key").asText(),
                h.get("type").asText(),
                h.get("mode").asText(),
                h.get("updates_per_s").asDouble(),
                h.get("object_bytes").asLong()));
      }
    }
    for (Map.Entry<String, JsonNode> e : now.peers.get("keyspaces").properties()) {
      links(dc, e.getKey(), e.getValue().get("peers"));
    }
  }

  private static Keyspace keyspace(
      String dc, String name, @Nullable JsonNode before, JsonNode now, double seconds) {
    return new Keyspace(
        dc,
        name,
        rate("updates", before, now, seconds),
        rate("applied_remote", before, now, seconds),
        rate("shipped_bytes", before, now, seconds),
        rate("op_bytes", before, now, seconds),
        now.get("state_mode_objects").asLong(),
        now.get("sla_ms").asLong(),
        now.get("visibility_ms").get("p99").asDouble(),
        rate("sla_violations", before, now, seconds),
        now.get("queued").asLong(),
        rate("overloads", before, now, seconds));
  }

  private static double rate(String of, @Nullable JsonNode before, JsonNode now, double seconds) {
    return before == null
        ? 0
        : Math.max(0, now.get(of).asLong() - before.get(of).asLong()) / seconds;
  }

  private void links(String from, String keyspace, JsonNode peers) {
    List<String> names = new ArrayList<>();
    peers.forEach(p -> names.add(p.get("dc").asText()));
    for (String to : names.stream().distinct().toList()) {
      boolean connected = true;
      String stream = "streaming";
      long lagUpdates = 0;
      long lagBytes = 0;
      long lagMillis = 0;
      long behind = 0;
      for (JsonNode p : peers) {
        if (p.get("dc").asText().equals(to)) {
          connected &= p.get("connected").asBoolean();
          stream = p.get("stream").asText().equals("streaming") ? stream : p.get("stream").asText();
          lagUpdates += p.get("lag_updates").asLong();
          lagBytes += p.get("lag_bytes").asLong();
          lagMillis = Math.max(lagMillis, p.get("lag_ms").asLong());
          behind += p.get("behind_updates").asLong();
        }
      }
      links.add(
          new Link(from, to, keyspace, connected, stream, lagUpdates, lagBytes, lagMillis, behind));
    }
  }

  /** For people: a line for each keyspace, link and hot object, and what is wrong. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    Table rates =
        new Table(
            "dc",
            "keyspace",
            "updates/s",
            "applied/s",
            "shipped",
            "as ops",
            "saved",
            "state",
            "p99 ms",
            "SLA ms",
            "late/s",
            "queued",
            "refused/s");
    for (Keyspace k : keyspaces) {
      rates.add(
          k.dc,
          k.name,
          number(k.updatesPerSecond),
          number(k.appliedPerSecond),
          bytes(k.shippedPerSecond) + "/s",
          bytes(k.opPerSecond) + "/s",
          k.opPerSecond < 1
              ? "-"
              : Math.round(100 * (1 - k.shippedPerSecond / k.opPerSecond)) + "%",
          k.stateObjects,
          number(k.p99Millis),
          k.slaMillis,
          number(k.latePerSecond),
          k.queued,
          number(k.refusedPerSecond));
    }
    lines.addAll(rates.toString().lines().toList());
    if (!links.isEmpty()) {
      Table table = new Table("link", "keyspace", "stream", "lag", "lag B", "lag ms", "behind");
      for (Link l : links) {
        table.add(
            l.from + " → " + l.to,
            l.keyspace,
            l.connected ? l.stream : "CUT",
            l.lagUpdates,
            bytes((double) l.lagBytes),
            l.lagMillis,
            l.behindUpdates);
      }
      lines.add("");
      lines.addAll(table.toString().lines().toList());
    }
    if (!hot.isEmpty()) {
      Table table = new Table("hot object", "dc", "keyspace", "type", "mode", "updates/s", "size");
      hot.stream()
          .limit(HOT_SHOWN)
          .forEach(
              h ->
                  table.add(
                      h.key,
                      h.dc,
                      h.keyspace,
                      h.type,
                      h.mode,
                      number(h.updatesPerSecond),
                      bytes((double) h.objectBytes)));
      lines.add("");
      lines.addAll(table.toString().lines().toList());
    }
    if (!troubles.isEmpty()) {
      lines.add("");
      troubles.forEach(t -> lines.add("! " + t));
    }
    return lines;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 10 && value > 0 ? "%.1f" : "%.0f", value);
  }

  private static String bytes(double value) {
    if (value < 1 << 10) {
      return Math.round(value) + " B";
    }
    return value < 1 << 20
        ? String.format(Locale.ROOT, "%.1f KiB", value / (1 << 10))
        : String.format(Locale.ROOT, "%.1f MiB", value / (1 << 20));
  }

  /** For programs: the same in one object. */
  String json() {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode ks = root.putArray("keyspaces");
    for (Keyspace k : keyspaces) {
      ks.addObject()
          .put("dc", k.dc)
          .put("keyspace", k.name)
          .put("updates_per_s", k.updatesPerSecond)
          .put("applied_per_s", k.appliedPerSecond)
          .put("shipped_bytes_per_s", k.shippedPerSecond)
          .put("op_bytes_per_s", k.opPerSecond)
          .put("state_mode_objects", k.stateObjects)
          .put("sla_ms", k.slaMillis)
          .put("visibility_p99_ms", k.p99Millis)
          .put("late_per_s", k.latePerSecond)
          .put("queued", k.queued)
          .put("refused_per_s", k.refusedPerSecond);
    }
    ArrayNode ls = root.putArray("links");
    for (Link l : links) {
      ls.addObject()
          .put("from", l.from)
          .put("to", l.to)
          .put("keyspace", l.keyspace)
          .put("connected", l.connected)
          .put("stream", l.stream)
          .put("lag_updates", l.lagUpdates)
          .put("lag_bytes", l.lagBytes)
          .put("lag_ms", l.lagMillis)
          .put("behind_updates", l.behindUpdates);
    }
    ArrayNode hs = root.putArray("hot");
    for (Hot h : hot) {
      hs.addObject()
          .put("dc", h.dc)
          .put("keyspace", h.keyspace)
          .put("key", h.key)
          .put("type", h.type)
          .put("mode", h.mode)
          .put("updates_per_s", h.updatesPerSecond)
          .put("object_bytes", h.objectBytes);
    }
    troubles.forEach(root.putArray("troubles")::add);
    return root.toString();
  }
}
