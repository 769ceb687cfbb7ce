package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.osier.datacenter.redis.RespValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Answers as texts of one character a byte, to be compared. */
final class Texted {
  private static final Set<String> UNORDERED =
      Set.of("HKEYS", "HVALS", "SMEMBERS", "SINTER", "SUNION", "SDIFF");

  private Texted() {}

  static String text(RespValue value) {
    return switch (value) {
      case RespValue.Simple v -> "+" + v.text();
      case RespValue.Err v -> "-" + v.text();
      case RespValue.Int v -> ":" + v.value();
      case RespValue.Bulk v -> "$" + new String(v.bytes(), ISO_8859_1);
      case RespValue.Text v -> "$" + new String(v.bytes(), ISO_8859_1);
      case RespValue.Null v -> "(nil)";
      case RespValue.NullArray v -> "(nil)";
      case RespValue.Encoded v -> new String(v.bytes(), ISO_8859_1);
      case RespValue.Many v -> all(v.values());
    };
  }

  private static String all(List<RespValue> values) {
    return values.stream().map(Texted::text).collect(Collectors.joining(" ", "[", "]"));
  }

  /** The same in an order that does not depend on that of elements and fields. */
  static String text(String command, RespValue value) {
    if (command.equals("HGETALL") && value instanceof RespValue.Pairs pairs) {
      List<String> rows = new ArrayList<>();
      for (int i = 0; i < pairs.values().size(); i += 2) {
        rows.add(text(pairs.values().get(i)) + " " + text(pairs.values().get(i + 1)));
      }
      return rows.stream().sorted().collect(Collectors.joining(" ", "[", "]"));
    }
    Stream<RespValue> values =
        value instanceof RespValue.Array a
            ? a.values().stream()
            : value instanceof RespValue.Elements e ? e.values().stream() : Stream.empty();
    return UNORDERED.contains(command) && !(value instanceof RespValue.Err)
        ? values.map(Texted::text).sorted().collect(Collectors.joining(" ", "[", "]"))
        : text(value);
  }
}
