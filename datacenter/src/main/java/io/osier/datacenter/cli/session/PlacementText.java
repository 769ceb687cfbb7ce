package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Renders the placement of keyspaces whose holders follow the load. Pure. */
final class PlacementText {
  private static final String NOT_MEASURED = "?";

  private PlacementText() {}

  /**
   * Renders the answer to a command.
   *
   * @param report the datacenter's report of all such keyspaces
   * @param what the command: list, why or advise
   * @param asJson whether to render JSON
   * @param keyspaces returns the datacenter's report of all keyspaces
   * @throws OsierException INVALID_ARGUMENT if the named keyspace's load is not counted
   */
  static String of(
      JsonNode report, Grammar.Administer what, boolean asJson, Supplier<JsonNode> keyspaces) {
    List<JsonNode> placements = new ArrayList<>();
    for (JsonNode one : report.get("placements")) {
      String keyspace = one.get("keyspace").asText();
      if (what.name().isEmpty()
          || what.name().equals(keyspace)
          || what.name().equals(Homes.base(keyspace))) {
        placements.add(one);
      }
    }
    if (placements.isEmpty() && !what.name().isEmpty()) {
      List<String> names = new ArrayList<>();
      report.get("placements").forEach(one -> names.add(one.get("keyspace").asText()));
      checkPlaceable(what.name(), keyspaces.get());
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("there is no keyspace '%1$s' whose holders are placed by load (placement=adaptive, or"
                  + " pinned); such keyspaces are %2$s. 'placement pin %1$s' counts its load without"
                  + " moving it; 'keyspace alter %1$s placement=fixed' ends that")
              .formatted(what.name(), names));
    }
    if (asJson) {
      ArrayNode all = ((ObjectNode) report).putArray("placements");
      placements.forEach(all::add);
      return report.toString();
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode one : placements) {
      String summary = one.get("summary").asText();
      texts.add(
          switch (what.action()) {
            case "why" -> summary + "\n" + one.get("figures").asText();
            case "advise" -> one.get("keyspace").asText() + "\n" + advice(one);
            default -> summary;
          });
    }
    return texts.isEmpty() ? "none" : String.join("\n", texts);
  }

  /** Throws if a keyspace's holders cannot follow its load, whatever is altered. */
  private static void checkPlaceable(String name, JsonNode keyspaces) {
    List<String> names = new ArrayList<>();
    for (JsonNode one : keyspaces.path("keyspaces")) {
      names.add(one.path("name").asText());
      if (one.path("name").asText().equals(name)) {
        if (one.path("replicas").asText().equals("all")) {
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              ("keyspace '%s' is held by all datacenters, and stays so: there is nothing to place,"
                      + " nor to pin; only a keyspace that is created with replicas has holders that"
                      + " can follow the load")
                  .formatted(name));
        }
        return;
      }
    }
    throw new OsierException(
        ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + name + "'; there are " + names);
  }

  private static String advice(JsonNode placement) {
    JsonNode advice = placement.path("advice");
    if (advice.isMissingNode()) {
      return "no advice: the version of the datacenter that was asked gives none; upgrade it";
    }
    Table table =
        new Table(
            "holders", "what", "link B/s", "saved B/s", "stored bytes", "p50 ms", "ms to ask");
    long now = advice.path(0).path("link_bytes_per_second").asLong();
    for (JsonNode one : advice) {
      long link = one.get("link_bytes_per_second").asLong();
      List<String> ways = new ArrayList<>();
      one.get("ways").forEach(w -> ways.add(w.get("dc").asText() + " " + millis(w)));
      table.add(
          joined(one.get("holders")),
          joined(one.get("what"))
              + (one.get("allowed").asBoolean() ? "" : " (not possible now: laws, reach or room)"),
          link,
          now - link,
          one.get("stored_bytes").asLong(),
          millis(one),
          String.join(", ", ways));
    }
    return table.toString();
  }

  private static String millis(JsonNode of) {
    JsonNode p50 = of.get("p50_ms");
    return p50.isNull() ? NOT_MEASURED : Long.toString(Math.round(p50.asDouble()));
  }

  private static String joined(JsonNode texts) {
    List<String> all = new ArrayList<>();
    texts.forEach(text -> all.add(text.asText()));
    return String.join(", ", all);
  }
}
