package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Renders commands' answers as text, or as one JSON object.
 *
 * @param asJson whether to render JSON
 * @param isPiped whether a program reads the text, so that each element has a line of its own
 */
record Answers(boolean asJson, boolean isPiped) {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** Renders a boolean under a name, or the text that expresses it. */
  String flag(String name, boolean value, String text) {
    return asJson ? JSON.objectNode().put(name, value).toString() : text;
  }

  /** Renders a text, or null, under a name, or the text that expresses it. */
  String text(String name, @Nullable String value, String text) {
    return asJson ? JSON.objectNode().put(name, value).toString() : text;
  }

  String count(long count) {
    return asJson ? "{\"count\":" + count + "}" : Long.toString(count);
  }

  String deleted(int keys, String more) {
    return asJson ? "{\"deleted\":" + keys + "}" : keys + " deleted" + more;
  }

  String committed(String clock) {
    return asJson
        ? JSON.objectNode().put("committed", true).put("clock", clock).toString()
        : "committed; now " + clock;
  }

  String reading(Reading reading) {
    return isPiped ? ReadingFormat.lines(reading) : ReadingFormat.text(reading);
  }

  /** Renders an update's answer with a reading of its object. */
  String done(boolean done, Reading reading, String more) {
    return asJson
        ? JSON.objectNode().put("done", done).set("value", ReadingFormat.json(reading)).toString()
        : reading(reading) + more;
  }

  String found(Keyspace.Found found) {
    if (!asJson) {
      return found.reading().map(this::reading).orElse("(nothing)")
          + found.age().filter(age -> !isPiped).map(Answers::aged).orElse("");
    }
    ObjectNode node = JSON.objectNode();
    found.type().ifPresent(t -> node.put("type", t.label()));
    node.put("exists", found.exists());
    found.reading().ifPresent(r -> node.set("value", ReadingFormat.json(r)));
    found.age().ifPresent(age -> node.put("age_ms", age.toMillis()));
    return node.toString();
  }

  /** What was read may be so old; the age is rounded up. */
  static String aged(Duration age) {
    return " (as of %d s ago)".formatted(age.plusMillis(999).toSeconds());
  }

  String type(Optional<CrdtType> type) {
    String label = type.map(CrdtType::label).orElse(null);
    return text("type", label, label == null ? "(nothing)" : label);
  }

  String timeToLive(Optional<Duration> left, BooleanSupplier exists) {
    if (asJson) {
      return "{\"ttl_ms\":" + left.map(d -> Long.toString(d.toMillis())).orElse("null") + "}";
    }
    if (left.isPresent()) {
      return BigDecimal.valueOf(left.get().toMillis(), 3).toPlainString() + " s";
    }
    return exists.getAsBoolean() ? "it does not expire" : "(nothing)";
  }

  String keyspaces(Optional<String> chosen, List<String> names) {
    if (!asJson) {
      return "keyspaces: "
          + String.join(", ", names)
          + chosen.map(k -> "; commands go to " + k).orElse("");
    }
    ObjectNode node = JSON.objectNode();
    chosen.ifPresent(k -> node.put("keyspace", k));
    names.forEach(node.putArray("keyspaces")::add);
    return node.toString();
  }

  /** Renders objects with their values, and the key at which the next page begins. */
  String page(Keyspace.Page page) {
    if (asJson) {
      ArrayNode rows = JSON.arrayNode();
      page.rows().forEach(r -> keyOf(r, rows).set("value", ReadingFormat.json(r.value())));
      return rows.toString();
    }
    Table table = new Table("key", "type", "value");
    page.rows()
        .forEach(
            r -> table.add(ValueText.of(r.key()), r.type().label(), ReadingFormat.text(r.value())));
    return table + page.next().map(k -> "\n… go on with: scan " + ValueText.of(k)).orElse("");
  }

  String keys(List<Keyspace.Row> rows) {
    if (asJson) {
      ArrayNode array = JSON.arrayNode();
      rows.forEach(r -> keyOf(r, array));
      return array.toString();
    }
    Table table = new Table("key", "type");
    rows.forEach(r -> table.add(ValueText.of(r.key()), r.type().label()));
    return table.toString();
  }

  private static ObjectNode keyOf(Keyspace.Row row, ArrayNode to) {
    return to.addObject()
        .<ObjectNode>set("key", ValueText.json(row.key()))
        .put("type", row.type().label());
  }

  String error(OsierException e) {
    return asJson
        ? errorJson(e).toString()
        : ValueText.harmless("error " + e.code() + ": " + e.reason());
  }

  /** Renders the error of one of many commands. */
  String error(OsierException e, int line, String command) {
    return asJson
        ? errorJson(e).put("line", line).put("command", command).toString()
        : ValueText.harmless(
            "error " + e.code() + " at line " + line + ": " + e.reason() + "\n  " + command);
  }

  private static ObjectNode errorJson(OsierException e) {
    return JSON.objectNode()
        .put("error", e.code().name())
        .put("message", e.reason())
        .put("outcome", e instanceof OutcomeUnknownException ? "unknown" : "failed");
  }
}
