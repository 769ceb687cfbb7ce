package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What {@code top} shows: the rates between two looks at the datacenters, and what the second one
 * saw. Pure.
 *
 * @param keyspaces of all datacenters that answered
 * @param links as their senders tell
 * @param hot of all datacenters, hottest first
 * @param troubles in words, with the datacenter
 */
record TopView(
    List<Keyspace> keyspaces, List<ClusterLook.Way> links, List<Hot> hot, List<String> troubles) {
  private static final int HOT_SHOWN = 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * A keyspace at a datacenter.
   *
   * @param shippedPerSecond bytes to all peers
   * @param arrivedPerSecond those of them that the peers have confirmed
   * @param opPerSecond bytes that what they have confirmed takes as single operations
   * @param p99Millis how long shipments of others took to become visible, since the start; empty if
   *     none came
   * @param latePerSecond shipments that came later than the bound with the links up
   */
  record Keyspace(
      String dc,
      String name,
      double updatesPerSecond,
      double appliedPerSecond,
      double shippedPerSecond,
      double arrivedPerSecond,
      double opPerSecond,
      long stateObjects,
      long slaMillis,
      OptionalDouble p99Millis,
      double latePerSecond,
      long queued,
      double refusedPerSecond) {}

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
   * @param before the look before; who is not there, or began anew, has no rates
   */
  static TopView between(ClusterLook before, ClusterLook now) {
    TopView all = new TopView(new ArrayList<>(), now.ways(), new ArrayList<>(), new ArrayList<>());
    now.silent()
        .forEach(dc -> all.troubles.add(dc + " does not answer, whichever way it is asked"));
    double seconds = Math.max(1e-3, (now.nanos() - before.nanos()) / 1e9);
    now.answers().forEach((dc, status) -> all.add(dc, before.answers().get(dc), status, seconds));
    all.hot.sort(Comparator.comparingDouble(Hot::updatesPerSecond).reversed());
    return all;
  }

  private void add(String dc, @Nullable JsonNode before, JsonNode now, double seconds) {
    now.path("problems").forEach(p -> troubles.add(p.path("what").asText()));
    boolean same =
        before != null
            && before.path("incarnation").asLong() == now.path("incarnation").asLong()
            && before.path("uptime_ms").asLong() <= now.path("uptime_ms").asLong();
    for (JsonNode space : now.path("keyspaces")) {
      String name = space.path("name").asText();
      JsonNode former = null;
      if (before != null && same) {
        for (JsonNode f : before.path("keyspaces")) {
          former = f.path("name").asText().equals(name) ? f : former;
        }
      }
      keyspaces.add(keyspace(dc, name, former, space, seconds));
      for (JsonNode h : space.path("hot")) {
        hot.add(
            new Hot(
                dc,
                name,
                h.path("key").asText(),
                h.path("type").asText(),
                h.path("mode").asText(),
                h.path("rate").asDouble(),
                h.path("bytes").asLong()));
      }
    }
  }

  private static Keyspace keyspace(
      String dc, String name, @Nullable JsonNode before, JsonNode now, double seconds) {
    long measured = 0;
    for (JsonNode count : now.path("visibility").path("counts")) {
      measured += count.asLong();
    }
    return new Keyspace(
        dc,
        name,
        rate("/updates", before, now, seconds),
        rate("/applied", before, now, seconds),
        rate("/shipped_bytes", before, now, seconds),
        rate("/arrived_bytes", before, now, seconds),
        rate("/op_bytes", before, now, seconds),
        now.path("state_objects").asLong(),
        now.path("sla_ms").asLong(),
        measured == 0
            ? OptionalDouble.empty()
            : OptionalDouble.of(now.path("visibility").path("p99_ms").asDouble()),
        rate("/late/origin", before, now, seconds)
            + rate("/late/way", before, now, seconds)
            + rate("/late/dependency", before, now, seconds),
        now.path("queued").asLong(),
        rate("/overloads", before, now, seconds));
  }

  private static double rate(String of, @Nullable JsonNode before, JsonNode now, double seconds) {
    return before == null
        ? Double.NaN
        : Math.max(0, now.at(of).asLong() - before.at(of).asLong()) / seconds;
  }

  /**
   * For people: a line for each keyspace, link and hot object, and what is wrong.
   *
   * @param arrow between the ends of a link
   */
  List<String> lines(String arrow) {
    List<String> lines = new ArrayList<>();
    Table rates =
        new Table(
            "dc",
            "keyspace",
            "updates/s",
            "applied/s",
            "arrived",
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
          perSecond(k.arrivedPerSecond),
          perSecond(k.opPerSecond),
          !(k.opPerSecond >= 1)
              ? ""
              : Math.round(100 * (1 - k.arrivedPerSecond / k.opPerSecond)) + "%",
          k.stateObjects,
          k.p99Millis.isPresent() ? number(k.p99Millis.getAsDouble()) : "",
          k.slaMillis,
          number(k.latePerSecond),
          k.queued,
          number(k.refusedPerSecond));
    }
    lines.addAll(rates.toString().lines().toList());
    if (!links.isEmpty()) {
      Table table = new Table("link", "state", "what waits");
      for (ClusterLook.Way l : links) {
        table.add(l.from() + arrow + l.to(), l.state(), l.waits());
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
    lines.replaceAll(ValueText::harmless); // anybody who writes names keys
    return lines;
  }

  private static String number(double value) {
    return Double.isNaN(value)
        ? ""
        : String.format(Locale.ROOT, value < 10 && value > 0 ? "%.1f" : "%.0f", value);
  }

  private static String perSecond(double bytes) {
    return Double.isNaN(bytes) ? "" : bytes(bytes) + "/s";
  }

  private static String bytes(double value) {
    if (value < 1 << 10) {
      return Math.round(value) + " B";
    }
    return value < 1 << 20
        ? String.format(Locale.ROOT, "%.1f KiB", value / (1 << 10))
        : String.format(Locale.ROOT, "%.1f MiB", value / (1 << 20));
  }

  String json() {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode ks = root.putArray("keyspaces");
    for (Keyspace k : keyspaces) {
      ks.addObject()
          .put("dc", k.dc)
          .put("keyspace", k.name)
          .put("updates_per_s", measured(k.updatesPerSecond))
          .put("applied_per_s", measured(k.appliedPerSecond))
          .put("shipped_bytes_per_s", measured(k.shippedPerSecond))
          .put("arrived_bytes_per_s", measured(k.arrivedPerSecond))
          .put("op_bytes_per_s", measured(k.opPerSecond))
          .put("state_mode_objects", k.stateObjects)
          .put("sla_ms", k.slaMillis)
          .put("visibility_p99_ms", k.p99Millis.isPresent() ? k.p99Millis.getAsDouble() : null)
          .put("late_per_s", measured(k.latePerSecond))
          .put("queued", k.queued)
          .put("refused_per_s", measured(k.refusedPerSecond));
    }
    ArrayNode ls = root.putArray("links");
    for (ClusterLook.Way l : links) {
      ls.addObject()
          .put("from", l.from())
          .put("to", l.to())
          .put("connected", l.connected())
          .put("stream", l.stream())
          .put("lag_updates", l.lagUpdates())
          .put("lag_ms", l.lagMillis())
          .put("overdue_updates", l.overdueUpdates());
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

  private static @Nullable Double measured(double value) {
    return Double.isNaN(value) ? null : value;
  }
}
