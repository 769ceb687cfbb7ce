package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What all datacenters that could be reached by way of one said at one moment, of themselves or of
 * a key. Pure.
 *
 * @param nanos the moment, by the monotonic clock
 * @param asked the datacenter that asked the others
 * @param addresses where it dials them
 * @param answers by datacenter; where a key was asked about, of those that hold its keyspace
 * @param silent those that did not answer, and should have
 * @param copied those that answer reads of the key from a copy of what others hold
 */
record ClusterLook(
    long nanos,
    String asked,
    Map<String, String> addresses,
    Map<String, JsonNode> answers,
    List<String> silent,
    List<String> copied) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @throws OsierException INTERNAL if it is none
   */
  static ClusterLook of(long nanos, String report) {
    JsonNode root = parse(report);
    Map<String, String> addresses = new TreeMap<>();
    Map<String, JsonNode> answers = new TreeMap<>();
    List<String> silent = new ArrayList<>();
    Set<String> holders = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    List<String> copied = new ArrayList<>();
    for (JsonNode answer : root.path("answers")) {
      String dc = answer.path("dc").asText();
      JsonNode said = parse(answer.path("text").asText());
      if (said.has("holders")) {
        others.add(dc);
        if (said.path("copied").asBoolean()) {
          copied.add(dc);
        }
        said.path("holders").forEach(holder -> holders.add(holder.asText()));
      } else {
        answers.put(dc, said);
      }
    }
    for (JsonNode peer : root.path("peers")) {
      String dc = peer.path("dc").asText();
      addresses.put(dc, peer.path("address").asText());
      if (!answers.containsKey(dc) && !others.contains(dc) && isHolder(dc, holders)) {
        silent.add(dc);
      }
    }
    return new ClusterLook(nanos, root.path("dc").asText(), addresses, answers, silent, copied);
  }

  /** Adds to a text what to do, if there is something. */
  static void appendHelps(StringBuilder text, List<String> helps) {
    if (!helps.isEmpty()) {
      text.append("\n\nwhat helps");
      helps.forEach(help -> text.append("\n  ").append(help));
    }
  }

  private static boolean isHolder(String dc, Set<String> holders) {
    return holders.isEmpty() || holders.contains(dc);
  }

  private static JsonNode parse(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the report is no JSON", e);
    }
  }

  /** Where one datacenter dials another, as it says itself; empty if it does not. */
  Optional<String> address(String from, String to) {
    return Optional.ofNullable(answers.get(from))
        .map(said -> said.path("addresses").path(to).asText())
        .filter(address -> !address.isEmpty());
  }

  /** A command that tries whether one datacenter reaches another. */
  String reach(String from, String to) {
    return "at "
        + from
        + ": "
        + address(from, to)
            .map(at -> at.replaceFirst(":(\\d+)$", " $1"))
            .map(at -> "nc -vz " + at + "    does the peer port of " + to + " answer?")
            .orElse("see that it reaches the peer port of " + to);
  }

  /** How many datacenters there are, as far as the one that asked knows. */
  int datacenters() {
    return addresses.size() + 1;
  }

  /** Whether there is a datacenter of this name. */
  boolean has(String dc) {
    return dc.equals(asked) || addresses.containsKey(dc);
  }

  /**
   * A way from one datacenter to another, as its sender tells.
   *
   * @param lagUpdates updates that the receiver has not confirmed
   * @param lagMillis how long it has lacked the first of them
   * @param overdueUpdates those of them that are older than their keyspace's bound
   * @param boundMillis the longest of the keyspaces' bounds
   */
  record Way(
      String from,
      String to,
      boolean connected,
      String stream,
      long lagUpdates,
      long lagMillis,
      long overdueUpdates,
      long boundMillis) {
    /** Whether what waits has waited for longer than the bound. */
    boolean isLate() {
      return overdueUpdates > 0;
    }

    String state() {
      return !connected
          ? "CUT"
          : switch (stream) {
            case "catching-up" -> "catches up";
            case "waiting" -> "begins";
            default -> isLate() ? "LATE" : "runs";
          };
    }

    String waits() {
      if (lagUpdates == 0) {
        return "nothing waits";
      }
      String since = lagMillis > 0 ? ", the oldest for " + Durations.text(lagMillis) : "";
      return Durations.updates(lagUpdates)
          + (lagUpdates == 1 ? " waits" : " wait")
          + since
          + (isLate()
              ? " (" + Durations.number(overdueUpdates) + " older than the bound)"
              : connected && stream.equals("streaming")
                  ? " (within the bound of " + Durations.text(boundMillis) + ")"
                  : "");
    }

    ObjectNode addTo(ArrayNode ways) {
      return ways.addObject()
          .put("from", from)
          .put("to", to)
          .put("connected", connected)
          .put("stream", stream)
          .put("lag_updates", lagUpdates)
          .put("lag_ms", lagMillis)
          .put("overdue_updates", overdueUpdates);
    }
  }

  /** All ways, where the answers are statuses. */
  List<Way> ways() {
    List<Way> ways = new ArrayList<>();
    answers.forEach(
        (dc, status) -> {
          long bound = 0;
          for (JsonNode space : status.path("keyspaces")) {
            bound = Math.max(bound, space.path("sla_ms").asLong());
          }
          for (JsonNode link : status.path("links")) {
            ways.add(
                new Way(
                    dc,
                    link.path("dc").asText(),
                    link.path("connected").asBoolean(),
                    link.path("stream").asText(),
                    link.path("lag_updates").asLong(),
                    link.path("lag_ms").asLong(),
                    link.path("overdue_updates").asLong(),
                    bound));
          }
        });
    return ways;
  }
}
