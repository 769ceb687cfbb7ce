package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Renders what was read. Thread-safe. */
final class ReadingFormat {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ReadingFormat() {}

  /** Renders text for people. */
  static String text(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> Long.toString(r.value());
      case Reading.Flag r -> Boolean.toString(r.value());
      case Reading.Single r -> r.value().map(ValueText::of).orElse("(nothing)");
      case Reading.Many r ->
          r.values().stream().map(ValueText::of).collect(Collectors.joining(", ", "{", "}"));
      case Reading.Fields r ->
          r.fields().entrySet().stream()
              .map(e -> ValueText.name(e.getKey().name()) + ": " + text(e.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case Reading.Rights r -> rightsText(r);
    };
  }

  /** Renders text for programs: one element or field on each line, no line for none. */
  static String lines(Reading reading) {
    return switch (reading) {
      case Reading.Many r ->
          r.values().stream().map(ValueText::of).collect(Collectors.joining("\n"));
      case Reading.Fields r ->
          r.fields().entrySet().stream()
              .map(e -> ValueText.name(e.getKey().name()) + ": " + text(e.getValue()))
              .collect(Collectors.joining("\n"));
      default -> text(reading);
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

  /** Renders JSON for programs. */
  static JsonNode json(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> JSON.valueToTree(r.value());
      case Reading.Flag r -> JSON.valueToTree(r.value());
      case Reading.Single r -> r.value().map(ValueText::json).orElse(JSON.nullNode());
      case Reading.Many r -> {
        ArrayNode array = JSON.createArrayNode();
        r.values().forEach(v -> array.add(ValueText.json(v)));
        yield array;
      }
      case Reading.Fields r -> {
        Map<String, Map<String, JsonNode>> named = new LinkedHashMap<>();
        r.fields()
            .forEach(
                (f, v) ->
                    named
                        .computeIfAbsent(ValueText.jsonName(f.name()), n -> new LinkedHashMap<>())
                        .put(f.type().label(), json(v)));
        ObjectNode object = JSON.createObjectNode();
        named.forEach(
            (name, types) ->
                object.set(
                    name,
                    types.size() == 1
                        ? types.values().iterator().next()
                        : JSON.createObjectNode()
                            .set("$types", JSON.createObjectNode().setAll(types))));
        yield object;
      }
      case Reading.Rights r -> {
        ObjectNode object = JSON.createObjectNode();
        object.put("value", r.value());
        object.put("lower", r.lower());
        object.put("upper", r.upper());
        ObjectNode shares = object.putObject("shares");
        r.shares().forEach((dc, s) -> shares.putObject(dc).put("down", s.down()).put("up", s.up()));
        yield object;
      }
    };
  }
}
