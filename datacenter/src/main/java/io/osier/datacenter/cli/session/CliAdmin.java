package io.osier.datacenter.cli.session;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.Admin;
import io.osier.proxy.OsierClient;
import io.osier.proxy.UserAdmin;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the commands that administer and inspect datacenters, and renders their reports. Not
 * thread-safe.
 */
public final class CliAdmin {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern NUMBER = Pattern.compile("(\\d{1,18})(ms|B|)");

  private final OsierClient client;
  private final NewPasswords newPasswords;
  private final boolean asJson;

  CliAdmin(OsierClient client, NewPasswords newPasswords, boolean asJson) {
    this.client = client;
    this.newPasswords = newPasswords;
    this.asJson = asJson;
  }

  String administer(Grammar.Administer what) {
    Admin admin = client.admin();
    JsonNode report =
        answer(
            switch (what.action()) {
              case "list" -> admin.listKeyspacesAsync();
              case "create" -> admin.createKeyspaceAsync(what.name(), what.settings());
              case "alter" -> admin.alterKeyspaceAsync(what.name(), what.settings());
              default -> admin.dropKeyspaceAsync(what.name());
            });
    if (asJson) {
      return withNumbers(report).toString();
    }
    if (what.action().equals("drop")) {
      return "dropped";
    }
    Table table =
        new Table(
            "keyspace",
            "state",
            "sla",
            "propagation",
            "consistency",
            "partitions",
            "holders",
            "from",
            "changed");
    for (JsonNode k : report.get("keyspaces")) {
      table.add(
          k.get("name").asText(),
          state(k),
          k.get("sla").asText(),
          k.get("propagation").asText(),
          k.get("consistency").asText(),
          k.get("partitions").asText() + (k.path("hash").asText().equals("tag") ? " by tag" : ""),
          holders(k),
          k.get("from").asText(),
          changed(k));
    }
    return table.toString();
  }

  /** Converts settings as they are written (sla: 500ms) into numbers for programs (sla_ms: 500). */
  private static JsonNode withNumbers(JsonNode report) {
    for (JsonNode keyspace : report.path("keyspaces")) {
      for (Map.Entry<String, JsonNode> setting : List.copyOf(keyspace.properties())) {
        Matcher number = NUMBER.matcher(setting.getValue().asText());
        if (setting.getValue().isTextual()
            && !setting.getKey().equals("name")
            && number.matches()) {
          ((ObjectNode) keyspace).remove(setting.getKey());
          String unit = number.group(2);
          ((ObjectNode) keyspace)
              .put(
                  setting.getKey() + (unit.equals("ms") ? "_ms" : unit.equals("B") ? "_bytes" : ""),
                  Long.parseLong(number.group(1)));
        }
      }
    }
    return report;
  }

  String datacenters(Grammar.Administer what) {
    Admin admin = client.admin();
    Map<String, String> settings = what.settings();
    JsonNode report =
        answer(
            switch (what.action()) {
              case "list" -> admin.listDatacentersAsync();
              case "add" ->
                  admin.addDatacenterAsync(what.name(), requireNonNull(settings.get("address")));
              default -> admin.removeDatacenterAsync(what.name(), settings.containsKey("dead"));
            });
    if (asJson) {
      return report.toString();
    }
    Table table = new Table("dc", "address", "state", "from", "changed");
    for (JsonNode dc : report.get("datacenters")) {
      String awaited = awaited(dc);
      table.add(
          dc.get("name").asText(),
          dc.get("address").asText(),
          dc.get("state").asText() + (awaited.isEmpty() ? "" : ": " + awaited),
          dc.get("from").asText(),
          changed(dc));
    }
    return table.toString();
  }

  /** Shows keyspaces whose holders follow the load: all of them, or the named one. */
  String placement(Grammar.Administer what) {
    return PlacementText.of(answer(client.admin().placementAsync()), what, asJson);
  }

  String manage(Grammar.ManageUser what) {
    UserAdmin users = client.admin().users();
    String name = what.name();
    JsonNode report =
        answer(
            switch (what.action()) {
              case "list" -> users.listAsync();
              case "create" -> users.createAsync(name, newPasswords.of(name), what.rights());
              case "passwd" ->
                  users.changePasswordAsync(
                      name,
                      newPasswords
                          .of(name)
                          .orElseThrow(
                              () ->
                                  new OsierException(
                                      ErrorCode.INVALID_ARGUMENT,
                                      "user passwd gives a password, which 'default' does not"
                                          + " have; --no-password does not go with it")));
              case "grant" -> users.grantAsync(name, what.rights().getFirst());
              case "revoke" -> users.revokeAsync(name, what.rights().getFirst());
              default -> users.dropAsync(name);
            });
    if (asJson) {
      return report.toString();
    }
    if (what.action().equals("drop")) {
      return "dropped";
    }
    Table table = new Table("user", "password", "rights", "from", "made");
    for (JsonNode u : report.get("users")) {
      List<String> rights = new ArrayList<>();
      u.get("rights").forEach(r -> rights.add(r.asText()));
      long at = u.get("made_at_ms").asLong();
      table.add(
          u.get("name").asText(),
          u.get("password").asText(),
          rights.isEmpty() ? "none" : String.join(", ", rights),
          u.get("from").asText(),
          at == 0
              ? ""
              : Instant.ofEpochMilli(at).truncatedTo(ChronoUnit.SECONDS)
                  + " by "
                  + u.get("made_by").asText());
    }
    return table.toString();
  }

  private static String state(JsonNode keyspace) {
    String awaited = awaited(keyspace);
    return awaited.isEmpty() ? "active" : "creating, waits for " + awaited;
  }

  /**
   * Returns "all" if all datacenters hold it; otherwise their names, with the state of those that
   * do not hold it fully.
   */
  private static String holders(JsonNode keyspace) {
    List<String> holders = new ArrayList<>();
    boolean isAll = keyspace.path("replicas").asText().equals("all");
    for (JsonNode holder : keyspace.path("holders")) {
      String state = holder.path("state").asText();
      boolean holds = state.equals("holds");
      isAll &= holds;
      holders.add(holder.path("dc").asText() + (holds ? "" : " (" + state + ")"));
    }
    return isAll ? "all" : String.join(", ", holders);
  }

  private static String awaited(JsonNode of) {
    List<String> awaited = new ArrayList<>();
    of.get("awaited").forEach(dc -> awaited.add(dc.asText()));
    return String.join(", ", awaited);
  }

  private static String changed(JsonNode of) {
    long at = of.get("changed_at_ms").asLong();
    return at == 0
        ? "never"
        : Instant.ofEpochMilli(at).truncatedTo(ChronoUnit.SECONDS)
            + " by "
            + of.get("changed_by").asText();
  }

  // ---------------------------------------------------------------- inspections

  private JsonNode report(String topic, int limit, Optional<String> keyspace) {
    Request.Topic of = Request.Topic.valueOf(topic.toUpperCase(Locale.ROOT));
    return answer(
        keyspace
            .filter(k -> of != Request.Topic.STAT)
            .map(k -> client.inspectAsync(of, k, limit))
            .orElseGet(
                () ->
                    client.inspectAsync(
                        client.nearest().orElseThrow(), of, Optional.empty(), limit)));
  }

  /** Waits for a datacenter's answer and parses it; throws its error. */
  public static JsonNode answer(CompletableFuture<String> text) {
    try {
      return JSON.readTree(joined(text));
    } catch (JsonProcessingException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the datacenter's report is not JSON", e);
    }
  }

  /** Waits for a future; throws its error as it is. */
  static <T> T joined(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof OsierException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /**
   * Shows a datacenter's report of itself.
   *
   * @param keyspace the only keyspace to show, for topics about keyspaces
   */
  String inspect(Grammar.Inspect inspect, Optional<String> keyspace) {
    JsonNode report = report(inspect.topic(), inspect.limit(), keyspace);
    if (asJson) {
      return report.toString();
    }
    StringBuilder text = new StringBuilder();
    if (inspect.topic().equals("stat")) {
      text.append(cluster(Optional.empty()).verdict()).append("\n\n");
    }
    text.append(report.get("dc").asText())
        .append(" (incarnation ")
        .append(report.get("incarnation").asLong())
        .append(")");
    if (report.has("store")) {
      text.append("\n\nstore\n").append(stat(report.get("store")));
    }
    for (Map.Entry<String, JsonNode> e : report.get("keyspaces").properties()) {
      text.append("\n\nkeyspace ").append(e.getKey()).append('\n');
      text.append(
          switch (inspect.topic()) {
            case "hot" -> hot(e.getValue());
            default -> stat(e.getValue());
          });
    }
    return text.toString();
  }

  private static Table hot(JsonNode keyspace) {
    Table table = new Table("key", "type", "mode", "updates/s", "object B", "op B");
    keyspace
        .get("hot")
        .forEach(
            h ->
                table.add(
                    h.get("key").asText(),
                    h.get("type").asText(),
                    h.get("mode").asText(),
                    h.get("updates_per_s").asText(),
                    h.get("object_bytes").asText(),
                    h.get("op_bytes").asText()));
    return table;
  }

  private static Table stat(JsonNode keyspace) {
    Table table = new Table("figure", "value");
    for (Map.Entry<String, JsonNode> e : keyspace.properties()) {
      if (e.getKey().endsWith("_ms") && e.getValue().isObject()) {
        table.add(e.getKey(), percentiles(e.getValue()));
      } else if (e.getKey().equals("memory")) {
        for (Map.Entry<String, JsonNode> share : e.getValue().properties()) {
          JsonNode v = share.getValue();
          table.add(
              "memory " + share.getKey(),
              "used %s of %s bytes, spent %s times"
                  .formatted(v.get("used_bytes"), v.get("limit_bytes"), v.get("spent")));
        }
      } else {
        table.add(
            e.getKey(),
            e.getValue().isNull()
                ? ""
                : e.getValue().isTextual() ? e.getValue().asText() : e.getValue());
      }
    }
    return table;
  }

  /** Renders percentiles; empty if nothing was measured. */
  private static String percentiles(JsonNode of) {
    return of.path("max").isNull()
        ? ""
        : "p50 " + of.get("p50") + ", p99 " + of.get("p99") + ", max " + of.get("max");
  }

  // ---------------------------------------------------------------- why

  /**
   * Explains why data is late, or shipped as it is.
   *
   * @param keyspace returns the keyspace of a key
   */
  String why(Grammar.Why of, Supplier<String> keyspace) {
    if (!of.isKey()) {
      Optional<String> word = Optional.of(of.word()).filter(w -> !w.isEmpty());
      WhyCluster cluster = cluster(word);
      if (word.isEmpty() || cluster.isKnown()) {
        return asJson ? cluster.json() : cluster.text();
      }
    }
    String name = keyspace.get();
    ClusterLook look = look(client.admin().whyAsync(name, of.key().orElseThrow()));
    WhyKey key = new WhyKey(look, of.word(), name, address());
    return asJson ? key.json() : key.text();
  }

  private WhyCluster cluster(Optional<String> dc) {
    return new WhyCluster(look(client.admin().whyAsync()), dc, address());
  }

  /** Waits for a report, and dates it now. */
  static ClusterLook look(CompletableFuture<String> report) {
    return ClusterLook.of(System.nanoTime(), joined(report));
  }

  /** Returns the address of the datacenter that is asked. */
  private String address() {
    String nearest = client.nearest().orElse("");
    return client.status().stream()
        .filter(s -> s.dc().equals(nearest))
        .map(OsierClient.Status::address)
        .findFirst()
        .orElse(nearest);
  }
}
