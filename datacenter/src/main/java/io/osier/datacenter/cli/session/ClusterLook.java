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
 * The reports of all datacenters that one of them could reach, at one moment, about themselves or a
 * key. Pure.
 *
 * @param nanos the moment, by the monotonic clock
 * @param asked the datacenter that asked the others
 * @param addresses the addresses at which it dials them, by name
 * @param answers the reports by datacenter; for a key, only those of its keyspace's holders
 * @param silent the datacenters that should have answered and did not
 * @param copied the datacenters that answer reads of the key from a copy
 * @param keyspace the keyspace, or home, that holds the key; empty if nobody has said so
 */
record ClusterLook(
    long nanos,
    String asked,
    Map<String, String> addresses,
    Map<String, JsonNode> answers,
    List<String> silent,
    List<String> copied,
    Optional<String> keyspace) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Parses a report.
   *
   * @throws OsierException INTERNAL if it is no JSON
   */
  static ClusterLook of(long nanos, String report) {
    JsonNode root = parse(report);
    Map<String, String> addresses = new TreeMap<>();
    Map<String, JsonNode> answers = new TreeMap<>();
    List<String> silent = new ArrayList<>();
    Set<String> holders = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    List<String> copied = new ArrayList<>();
    Optional<String> keyspace = Optional.empty();
    for (JsonNode answer : root.path("answers")) {
      String dc = answer.path("dc").asText();
      JsonNode said = parse(answer.path("text").asText());
      keyspace =
          keyspace.or(() -> Optional.of(said.path("keyspace").asText()).filter(n -> !n.isEmpty()));
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
    return new ClusterLook(
        nanos, root.path("dc").asText(), addresses, answers, silent, copied, keyspace);
  }

  /** Adds a list of suggested commands to a text, if there are any. */
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
      throw new OsierException(ErrorCode.INTERNAL, "the datacenter's report is not JSON", e);
    }
  }

  /**
   * Returns the address at which one datacenter dials another, as it reports; empty if it does not.
   */
  Optional<String> address(String from, String to) {
    return Optional.ofNullable(answers.get(from))
        .map(said -> said.path("addresses").path(to).asText())
        .filter(address -> !address.isEmpty());
  }

  /** Returns a command that tests whether one datacenter reaches another. */
  String reach(String from, String to) {
    return "at "
        + from
        + ": "
        + address(from, to)
            .map(at -> at.replaceFirst(":(\\d+)$", " $1"))
            .map(at -> "nc -vz " + at + "    does the peer port of " + to + " answer?")
            .orElse("check that it can connect to the peer port of " + to);
  }

  /** Returns the number of datacenters that the asked one knows. */
  int datacenters() {
    return addresses.size() + 1;
  }

  /** Returns whether there is a datacenter of this name. */
  boolean has(String dc) {
    return dc.equals(asked) || addresses.containsKey(dc);
  }

  /**
   * A link from one datacenter to another, as the sender reports it.
   *
   * @param lagUpdates updates that the receiver has not confirmed
   * @param lagMillis for how long the receiver has lacked the oldest of them
   * @param overdueUpdates how many of them are older than their keyspace's staleness bound
   * @param boundMillis the longest staleness bound of the keyspaces
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
    /** Returns whether updates have waited for longer than the bound. */
    boolean isLate() {
      return overdueUpdates > 0;
    }

    /** The state of a link on which nothing is late. */
    static final String UP = "up";

    String state() {
      return !connected
          ? "CUT"
          : switch (stream) {
            case "catching-up" -> "catching up";
            case "waiting" -> "starting";
            default -> isLate() ? "LATE" : UP;
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
              ? " (" + Durations.number(overdueUpdates) + " overdue)"
              : connected && stream.equals("streaming")
                  ? " (bound " + Durations.text(boundMillis) + ")"
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

  /** Returns all links, if the answers are statuses. */
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
