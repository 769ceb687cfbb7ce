package io.osier.datacenter.cli;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.BoundedCounter;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.Admin;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import io.osier.proxy.UserAdmin;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs parsed commands and turns their results into text. Not thread-safe. */
final class CliSession {
  private static final int KEYS_SHOWN = 50;

  private final OsierClient client;
  private final NewPasswords newPasswords;
  private final Session session;
  private Optional<String> keyspace;
  private final boolean asJson;
  private final ObjectMapper json = new ObjectMapper();

  /** The open transaction, or null. */
  private @Nullable Transaction transaction;

  CliSession(OsierClient client, Session session, Optional<String> keyspace, boolean asJson) {
    this(client, session, keyspace, asJson, NewPasswords.ASKED_FOR);
  }

  /**
   * As the other one.
   *
   * @param newPasswords where those come from that users are given
   */
  CliSession(
      OsierClient client,
      Session session,
      Optional<String> keyspace,
      boolean asJson,
      NewPasswords newPasswords) {
    this.newPasswords = newPasswords;
    this.client = client;
    this.session = session;
    this.keyspace = keyspace;
    this.asJson = asJson;
  }

  /**
   * Runs a command and returns what to print.
   *
   * @throws OsierException if it cannot be understood or fails
   */
  String run(List<Word> words) {
    if (words.size() == 1 && words.getFirst().text().equals("help")) {
      return String.join("\n", Grammar.HELP);
    }
    if (!words.isEmpty() && words.getFirst().text().equals("watch")) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'watch' goes on until it is interrupted: run it by itself, as osier cli … watch KEY");
    }
    return switch (Grammar.parse(words)) {
      case Grammar.Update u -> {
        if (u.ask().isPresent()) {
          Reading reading = updated(u, u.ask().get());
          yield asJson ? doneJson(reading) : text(reading);
        }
        if (!isDone(u)) {
          yield asJson ? "{\"done\":false}" : "not done: it is not as expected";
        }
        if (transaction != null) {
          yield asJson ? "{\"done\":false}" : "noted; commit makes it visible";
        }
        yield asJson ? "{\"done\":true}" : "done";
      }
      case Grammar.Transact t -> transact(t);
      case Grammar.Read r -> {
        Keyspace.Found found = read(r.key(), r.type(), r.query());
        yield asJson ? foundJson(found) : foundText(found);
      }
      case Grammar.Exists e -> {
        boolean exists = find(e.key()).exists();
        yield asJson ? "{\"exists\":" + exists + "}" : Boolean.toString(exists);
      }
      case Grammar.Type t -> typeText(find(t.key()).type());
      case Grammar.Delete d -> delete(d.keys());
      case Grammar.Expire e -> {
        boolean there =
            e.after().isPresent()
                ? space().expireAfter(e.key(), e.after().get())
                : space().expireAt(e.key(), e.at().orElseThrow());
        yield changed("expires", there, "(nothing)");
      }
      case Grammar.Persist p -> changed("persists", space().persist(p.key()), "it does not expire");
      case Grammar.TimeToLive t ->
          timeToLive(space().timeToLive(t.key()), () -> space().exists(t.key()));
      case Grammar.PartTimeToLive t -> timeToLive(t);
      case Grammar.Use u -> use(u);
      case Grammar.Scan s -> scan(s);
      case Grammar.Keys k -> keys(k);
      case Grammar.Count c -> {
        Scan scan = Scan.prefix(c.prefix());
        long count = space().count(c.type().map(scan::ofType).orElse(scan));
        yield asJson ? "{\"count\":" + count + "}" : Long.toString(count);
      }
      case Grammar.Inspect i -> inspect(i);
      case Grammar.Administer a -> a.subject().equals("dc") ? datacenters(a) : administer(a);
      case Grammar.ManageUser u -> manage(u);
    };
  }

  /** An error as it is shown: text, or one JSON object. */
  String error(OsierException e) {
    if (!asJson) {
      return "error " + e.code() + ": " + e.getMessage();
    }
    return json.createObjectNode()
        .put("error", e.code().name())
        .put("message", e.getMessage())
        .put("outcome", e instanceof OutcomeUnknownException ? "unknown" : "failed")
        .toString();
  }

  /** Does an update and returns what it was asked to show: of an addition what is new. */
  private Reading updated(Grammar.Update update, Request.Ask ask) {
    Keyspace.Found found =
        transaction != null
            ? transaction.updateAsync(update.key(), update.type(), update.operation(), ask).join()
            : keyspace().update(update.key(), update.type(), update.operation(), ask);
    Reading reading = found.reading().orElseThrow();
    Operation operation =
        update.operation() instanceof Operation.WithDeadline both
            ? both.update()
            : update.operation();
    return operation instanceof Operation.Add add && reading instanceof Reading.Many former
        ? new Reading.Many(new Query.Among(add.elements()).absent(former.values()))
        : reading;
  }

  /** Does an update, or not, if its condition does not hold. */
  private boolean isDone(Grammar.Update u) {
    if (u.condition().isEmpty()) {
      update(u.key(), u.type(), u.operation());
      return true;
    }
    Request.Condition condition = u.condition().get();
    return transaction != null
        ? transaction.updateIfAsync(u.key(), u.type(), u.operation(), condition).join()
        : keyspace().updateIf(u.key(), u.type(), u.operation(), condition);
  }

  private String doneJson(Reading reading) {
    ObjectNode node = json.createObjectNode().put("done", transaction == null);
    node.set("value", toJson(reading));
    return node.toString();
  }

  private void update(Key key, CrdtType type, Operation operation) {
    if (transaction == null) {
      keyspace().update(key, type, operation);
      return;
    }
    transaction.update(key, type, operation).join();
    // Reads the object, so that an error of the update comes now.
    transaction.read(key, Optional.of(type), new Query.Whole());
  }

  private Keyspace.Found read(Key key, Optional<CrdtType> type, Query query) {
    return transaction != null
        ? transaction.read(key, type, query)
        : keyspace().read(key, type, query);
  }

  /** What a key holds, without its value. */
  private Keyspace.Found find(Key key) {
    return read(key, Optional.empty(), new Query.Exists());
  }

  private String typeText(Optional<CrdtType> type) {
    String label = type.map(CrdtType::label).orElse("");
    if (!asJson) {
      return label.isEmpty() ? "(nothing)" : label;
    }
    return label.isEmpty() ? "{\"type\":null}" : "{\"type\":\"" + label + "\"}";
  }

  private String changed(String name, boolean changed, String otherwise) {
    if (asJson) {
      return "{\"" + name + "\":" + changed + "}";
    }
    return changed ? (transaction != null ? "noted; commit makes it visible" : "done") : otherwise;
  }

  private String timeToLive(Grammar.PartTimeToLive of) {
    Reading left =
        read(of.key(), Optional.of(of.type()), new Query.PartTimeToLive(of.part()))
            .reading()
            .orElseThrow();
    Query isThere =
        switch (of.part()) {
          case Part.Element p -> new Query.Contains(p.value());
          case Part.Field p -> new Query.Select(List.of(p.name()));
        };
    return timeToLive(
        Optional.of(((Reading.Count) left).value()).filter(n -> n >= 0).map(Duration::ofMillis),
        () ->
            switch (read(of.key(), Optional.of(of.type()), isThere).reading().orElseThrow()) {
              case Reading.Flag f -> f.value();
              case Reading.Fields f -> !f.fields().isEmpty();
              default -> throw new IllegalStateException("another answer");
            });
  }

  private String timeToLive(Optional<Duration> left, BooleanSupplier exists) {
    if (asJson) {
      return "{\"ttl_ms\":" + left.map(d -> Long.toString(d.toMillis())).orElse("null") + "}";
    }
    if (left.isPresent()) {
      return BigDecimal.valueOf(left.get().toMillis(), 3).toPlainString() + " s";
    }
    return exists.getAsBoolean() ? "it does not expire" : "(nothing)";
  }

  private String delete(List<String> keys) {
    int deleted = 0;
    for (String key : keys) {
      deleted += space().delete(key) ? 1 : 0;
    }
    return asJson
        ? "{\"deleted\":" + deleted + "}"
        : deleted + " deleted" + (transaction != null ? "; commit makes it visible" : "");
  }

  private String use(Grammar.Use use) {
    if (transaction != null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a transaction of '" + keyspace.orElse("") + "' is open: commit or abort it first");
    }
    List<String> names = keyspaces();
    if (use.keyspace().isPresent()) {
      if (!names.contains(use.keyspace().get())) {
        throw new OsierException(
            ErrorCode.UNKNOWN_KEYSPACE,
            "there is no keyspace '" + use.keyspace().get() + "'; there are " + names);
      }
      keyspace = use.keyspace();
    }
    if (!asJson) {
      return "keyspaces: "
          + String.join(", ", names)
          + keyspace.map(k -> "; commands go to " + k).orElse("");
    }
    ObjectNode node = json.createObjectNode();
    keyspace.ifPresent(k -> node.put("keyspace", k));
    names.forEach(node.putArray("keyspaces")::add);
    return node.toString();
  }

  /** The names of the keyspaces there. */
  List<String> keyspaces() {
    return client.keyspaces();
  }

  /** Some keys of objects, for completion. */
  List<String> keys(String prefix, Optional<CrdtType> type) {
    Scan scan = Scan.prefix(prefix).keysOnly().limit(KEYS_SHOWN);
    return keyspace().page(type.map(scan::ofType).orElse(scan)).rows().stream()
        .map(r -> r.key().toString())
        .toList();
  }

  private String transact(Grammar.Transact t) {
    if (t.verb().equals("begin")) {
      if (transaction != null) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "a transaction is open already: commit or abort it first");
      }
      Duration limit = Duration.ofSeconds(t.seconds());
      try {
        transaction = keyspace().begin(TransactionOptions.DEFAULT.limit(limit));
      } catch (IllegalArgumentException e) {
        throw new OsierException(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
      }
      return asJson
          ? "{\"clock\":\"" + transaction.clock() + "\"}"
          : "at " + transaction.datacenter() + ", on the snapshot " + transaction.clock();
    }
    if (transaction == null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "no transaction is open: begin opens one (in the interactive mode, for it lives as long"
              + " as the connection)");
    }
    Transaction ending = transaction;
    if (t.verb().equals("abort")) {
      transaction = null;
      ending.abort();
      return asJson ? "{\"committed\":false}" : "aborted";
    }
    try {
      String clock = ending.commit().toString();
      transaction = null;
      return asJson
          ? "{\"committed\":true,\"clock\":\"" + clock + "\"}"
          : "committed; now " + clock;
    } catch (OsierException e) {
      if (e.code() == ErrorCode.TRANSACTION_ENDED || e instanceof OutcomeUnknownException) {
        transaction = null;
      }
      throw e;
    }
  }

  /** Where commands go: the transaction that is open, or else the keyspace. */
  private ObjectSpace space() {
    return transaction != null ? transaction : keyspace();
  }

  /** The keyspace that was chosen, or the only one. */
  Keyspace chosen() {
    return keyspace();
  }

  private Keyspace keyspace() {
    return session.keyspace(keyspace.orElseGet(this::onlyKeyspace));
  }

  private String onlyKeyspace() {
    List<String> names = keyspaces();
    if (names.size() != 1) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "which keyspace? --keyspace NAME or the command 'use NAME' chooses one of " + names);
    }
    keyspace = Optional.of(names.getFirst());
    return names.getFirst();
  }

  // ---------------------------------------------------------------- values

  private static String foundText(Keyspace.Found found) {
    return found.reading().map(CliSession::text).orElse("(nothing)");
  }

  private String foundJson(Keyspace.Found found) {
    ObjectNode node = json.createObjectNode();
    found.type().ifPresent(t -> node.put("type", t.label()));
    node.put("exists", found.exists());
    found.reading().ifPresent(r -> node.set("value", toJson(r)));
    return node.toString();
  }

  private static String text(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> Long.toString(r.value());
      case Reading.Flag r -> Boolean.toString(r.value());
      case Reading.Single r -> r.value().map(Value::toString).orElse("(nothing)");
      case Reading.Many r ->
          r.values().stream().map(Value::toString).collect(Collectors.joining(", ", "{", "}"));
      case Reading.Fields r ->
          r.fields().entrySet().stream()
              .map(e -> e.getKey().name() + ": " + text(e.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case Reading.Rights r -> rightsText(r);
    };
  }

  private static String rightsText(Reading.Rights rights) {
    Table table = new Table("datacenter", "may subtract", "may add");
    rights.shares().forEach((dc, s) -> table.add(dc, amount(s.down()), amount(s.up())));
    return rights.value()
        + " in "
        + (rights.lower() == BoundedCounter.NO_LOWER ? "-" : rights.lower())
        + " to "
        + (rights.upper() == BoundedCounter.NO_UPPER ? "-" : rights.upper())
        + "\n"
        + table;
  }

  private static String amount(long rights) {
    return rights == Long.MAX_VALUE ? "any" : Long.toString(rights);
  }

  private JsonNode toJson(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> json.valueToTree(r.value());
      case Reading.Flag r -> json.valueToTree(r.value());
      case Reading.Single r -> r.value().map(this::toJson).orElse(json.nullNode());
      case Reading.Many r -> {
        ArrayNode array = json.createArrayNode();
        r.values().forEach(v -> array.add(toJson(v)));
        yield array;
      }
      case Reading.Fields r -> {
        ObjectNode object = json.createObjectNode();
        r.fields().forEach((f, v) -> object.set(f.name(), toJson(v)));
        yield object;
      }
      case Reading.Rights r -> {
        ObjectNode object = json.createObjectNode();
        object.put("value", r.value());
        object.put("lower", r.lower());
        object.put("upper", r.upper());
        ObjectNode shares = object.putObject("shares");
        r.shares().forEach((dc, s) -> shares.putObject(dc).put("down", s.down()).put("up", s.up()));
        yield object;
      }
    };
  }

  private JsonNode toJson(Value value) {
    return switch (value) {
      case Value.Int v -> json.valueToTree(v.content());
      case Value.Real v -> json.valueToTree(v.content());
      case Value.Str v -> json.valueToTree(v.content());
      case Value.Bytes v -> json.valueToTree(v.toString());
    };
  }

  private String scan(Grammar.Scan scan) {
    Keyspace.Page page =
        keyspace().scan(scan.from(), Optional.empty(), new Query.Whole(), scan.limit());
    if (asJson) {
      ArrayNode rows = json.createArrayNode();
      page.rows()
          .forEach(
              r ->
                  rows.addObject()
                      .put("key", r.key().toString())
                      .put("type", r.type().label())
                      .set("value", toJson(r.value())));
      return rows.toString();
    }
    Table table = new Table("key", "type", "value");
    page.rows().forEach(r -> table.add(r.key(), r.type().label(), text(r.value())));
    return table + page.next().map(k -> "\n… go on with: scan " + k).orElse("");
  }

  private String keys(Grammar.Keys keys) {
    List<Keyspace.Row> rows;
    try (Stream<Keyspace.Row> all =
        space().scan(Scan.prefix(keys.prefix()).keysOnly().limit(keys.limit()))) {
      rows = all.toList();
    }
    if (asJson) {
      ArrayNode array = json.createArrayNode();
      rows.forEach(
          r -> array.addObject().put("key", r.key().toString()).put("type", r.type().label()));
      return array.toString();
    }
    Table table = new Table("key", "type");
    rows.forEach(r -> table.add(r.key(), r.type().label()));
    return table.toString();
  }

  // ---------------------------------------------------------------- administering

  private String administer(Grammar.Administer what) {
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
      return report.toString();
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
            "replicas",
            "from",
            "changed");
    for (JsonNode k : report.get("keyspaces")) {
      table.add(
          k.get("name").asText(),
          state(k),
          k.get("sla").asText(),
          k.get("propagation").asText(),
          k.get("consistency").asText(),
          k.get("partitions").asText(),
          k.get("replicas").asText(),
          k.get("from").asText(),
          changed(k));
    }
    return table.toString();
  }

  private String datacenters(Grammar.Administer what) {
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

  private String manage(Grammar.ManageUser what) {
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
                                      "user passwd gives a password; --no-password does not go"
                                          + " with it")));
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

  private JsonNode report(String topic, int limit) {
    String dc = client.nearest().orElseThrow();
    return answer(
        client.inspectAsync(
            dc,
            Request.Topic.valueOf(topic.toUpperCase(Locale.ROOT)),
            topic.equals("stat") ? Optional.empty() : keyspace,
            limit));
  }

  private JsonNode answer(CompletableFuture<String> text) {
    try {
      return json.readTree(text.join());
    } catch (CompletionException e) {
      if (e.getCause() instanceof OsierException cause) {
        throw cause;
      }
      throw e;
    } catch (JsonProcessingException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the report is no JSON", e);
    }
  }

  private String inspect(Grammar.Inspect inspect) {
    JsonNode report = report(inspect.topic(), inspect.limit());
    if (asJson) {
      return report.toString();
    }
    StringBuilder text = new StringBuilder();
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
            case "peers" -> peers(e.getValue());
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

  private static Table peers(JsonNode keyspace) {
    Table table =
        new Table("partition", "dc", "connected", "stream", "lag", "in flight B", "behind");
    keyspace
        .get("peers")
        .forEach(
            p ->
                table.add(
                    p.get("partition").asText(),
                    p.get("dc").asText(),
                    p.get("connected").asText(),
                    p.get("stream").asText(),
                    p.get("lag_updates").asText(),
                    p.get("in_flight_bytes").asText(),
                    p.get("behind_updates").asText()));
    return table;
  }

  private static Table stat(JsonNode keyspace) {
    Table table = new Table("figure", "value");
    for (Map.Entry<String, JsonNode> e : keyspace.properties()) {
      if (e.getKey().endsWith("_ms") && e.getValue().isObject()) {
        JsonNode v = e.getValue();
        table.add(
            e.getKey(), "p50 " + v.get("p50") + ", p99 " + v.get("p99") + ", max " + v.get("max"));
      } else if (e.getKey().equals("memory")) {
        for (Map.Entry<String, JsonNode> share : e.getValue().properties()) {
          JsonNode v = share.getValue();
          table.add(
              "memory " + share.getKey(),
              "used %s of %s bytes, spent %s times"
                  .formatted(v.get("used_bytes"), v.get("limit_bytes"), v.get("spent")));
        }
      } else {
        table.add(e.getKey(), e.getValue().isTextual() ? e.getValue().asText() : e.getValue());
      }
    }
    return table;
  }
}
