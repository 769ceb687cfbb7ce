package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code top} shows: rates between two reports of the datacenters, and the state in the
 * second. Pure.
 */
final class TopView {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The keyspaces of all datacenters that answered; null stands for what was not measured. */
  final List<ObjectNode> keyspaces = new ArrayList<>();

  final List<ClusterLook.Way> links;

  /** The hot objects of all datacenters, hottest first. */
  final List<ObjectNode> hot = new ArrayList<>();

  /** What is wrong, in words. */
  final List<String> troubles = new ArrayList<>();

  /**
   * Makes the view.
   *
   * @param before the earlier reports; a datacenter that is missing in them, or has restarted
   *     since, has no rates
   */
  TopView(ClusterLook before, ClusterLook now) {
    links = now.ways();
    now.silent()
        .forEach(
            dc ->
                troubles.add(
                    dc + " does not answer, neither directly nor by way of another datacenter"));
    double seconds = Math.max(1e-3, (now.nanos() - before.nanos()) / 1e9);
    now.answers().forEach((dc, status) -> add(dc, before.answers().get(dc), status, seconds));
    hot.sort(
        Comparator.comparingDouble((ObjectNode h) -> h.get("updates_per_s").asDouble()).reversed());
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
      addKeyspace(dc, former, space, seconds);
      for (JsonNode h : space.path("hot")) {
        hot.add(
            JSON.objectNode()
                .put("dc", dc)
                .put("keyspace", name)
                .put("key", h.path("key").asText())
                .put("type", h.path("type").asText())
                .put("mode", h.path("mode").asText())
                .put("updates_per_s", h.path("rate").asDouble())
                .put("object_bytes", h.path("bytes").asLong()));
      }
    }
  }

  /**
   * Adds a keyspace: the rates of updates, of bytes shipped to all peers, of those confirmed, and
   * of the bytes that these take as single operations; the delays since the start until shipments
   * of others were visible here; and the rate of those later than the bound while the links were
   * up.
   */
  private void addKeyspace(String dc, @Nullable JsonNode before, JsonNode now, double seconds) {
    JsonNode visibility = now.path("visibility");
    boolean isMeasured = false;
    for (JsonNode count : visibility.path("counts")) {
      isMeasured |= count.asLong() > 0;
    }
    keyspaces.add(
        JSON.objectNode()
            .put("dc", dc)
            .put("keyspace", now.path("name").asText())
            .put("updates_per_s", rate(before, now, seconds, "/updates"))
            .put("applied_per_s", rate(before, now, seconds, "/applied"))
            .put("shipped_bytes_per_s", rate(before, now, seconds, "/shipped_bytes"))
            .put("arrived_bytes_per_s", rate(before, now, seconds, "/arrived_bytes"))
            .put("op_bytes_per_s", rate(before, now, seconds, "/op_bytes"))
            .put("state_mode_objects", now.path("state_objects").asLong())
            .put("sla_ms", now.path("sla_ms").asLong())
            .put("visibility_p99_ms", isMeasured ? visibility.path("p99_ms").asDouble() : null)
            .put(
                "late_per_s",
                rate(before, now, seconds, "/late/origin", "/late/way", "/late/dependency"))
            .put("queued", now.path("queued").asLong())
            .put("refused_per_s", rate(before, now, seconds, "/overloads")));
  }

  private static @Nullable Double rate(
      @Nullable JsonNode before, JsonNode now, double seconds, String... of) {
    if (before == null) {
      return null;
    }
    double sum = 0;
    for (String each : of) {
      sum += Math.max(0, now.at(each).asLong() - before.at(each).asLong());
    }
    return sum / seconds;
  }

  /** Renders the same as one JSON object for programs. */
  String json() {
    ObjectNode root = JSON.objectNode();
    root.putArray("keyspaces").addAll(keyspaces);
    ArrayNode ways = root.putArray("links");
    links.forEach(l -> l.addTo(ways));
    root.putArray("hot").addAll(hot);
    troubles.forEach(root.putArray("troubles")::add);
    return root.toString();
  }
}
