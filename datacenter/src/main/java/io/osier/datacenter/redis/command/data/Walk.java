package io.osier.datacenter.redis.command.data;

import io.osier.core.Value;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One step of a walk through a set's elements or a hash's fields, as SSCAN and HSCAN take it.
 * Immutable.
 *
 * @param behind the part that the walk has shown last; empty at its beginning
 * @param pattern the pattern that shown parts match; null for all
 * @param count how many parts the step looks at
 * @param values whether a field is shown with its value
 */
public record Walk(Optional<Part> behind, byte @Nullable [] pattern, int count, boolean values) {
  private static final int COUNT = 10;

  static Walk of(Scope scope, byte[][] w) {
    Words words = new Words(w);
    words.next();
    Optional<Part> behind = scope.cursors().get(cursor(words.next())).flatMap(Walk::part);
    byte[] pattern = null;
    long count = COUNT;
    boolean values = true;
    while (words.hasNext()) {
      switch (words.option()) {
        case "MATCH" -> pattern = Glob.checked(words.next());
        case "COUNT" -> {
          count = words.integer();
          if (count < 1) {
            throw RedisErrors.syntax();
          }
        }
        case "NOVALUES" -> {
          if (!Words.option(w[0]).equals("HSCAN")) {
            throw new RedisException("ERR NOVALUES option can only be used in HSCAN");
          }
          values = false;
        }
        default -> throw RedisErrors.syntax();
      }
    }
    return new Walk(behind, pattern, (int) Math.min(count, Query.Range.LIMIT_MAX), values);
  }

  public static long cursor(byte[] word) {
    try {
      return Long.parseUnsignedLong(new String(word, StandardCharsets.ISO_8859_1));
    } catch (NumberFormatException e) {
      throw new RedisException("ERR invalid cursor");
    }
  }

  Query query() {
    return new Query.Range(
        behind.map(part -> new Query.Bound(part, false)), Optional.empty(), false, count);
  }

  boolean shows(byte[] name) {
    return pattern == null || Glob.matches(pattern, name);
  }

  /**
   * Returns the step's answer, with the number by which the walk goes on.
   *
   * @param looked how many parts the step has looked at
   * @param last the last of these parts
   */
  RespValue answer(Scope scope, int looked, Optional<Part> last, List<RespValue> shown) {
    long cursor = looked >= count && last.isPresent() ? scope.cursors().put(place(last.get())) : 0;
    return RespValue.array(
        RespValue.Bulk.of(Long.toUnsignedString(cursor)), new RespValue.Array(shown));
  }

  private static byte[] place(Part part) {
    return switch (part) {
      case Part.Field field -> place('f', field.name().getBytes(StandardCharsets.UTF_8));
      case Part.Element element ->
          place(
              switch (element.value()) {
                case Value.Bytes v -> 'b';
                case Value.Str v -> 's';
                case Value.Int v -> 'i';
                case Value.Real v -> 'r';
              },
              Texts.bytes(element.value()));
    };
  }

  private static byte[] place(char kind, byte[] bytes) {
    byte[] place = new byte[bytes.length + 1];
    place[0] = (byte) kind;
    System.arraycopy(bytes, 0, place, 1, bytes.length);
    return place;
  }

  private static Optional<Part> part(byte[] place) {
    byte[] bytes = Arrays.copyOfRange(place, Math.min(1, place.length), place.length);
    String text = new String(bytes, StandardCharsets.UTF_8);
    return switch (place.length == 0 ? ' ' : place[0]) {
      case 'f' -> Optional.of(new Part.Field(text));
      case 'b' -> Optional.of(new Part.Element(Value.of(bytes)));
      case 's' -> Optional.of(new Part.Element(Value.of(text)));
      case 'i' -> Optional.of(new Part.Element(Value.of(Long.parseLong(text))));
      case 'r' -> Optional.of(new Part.Element(Value.of(Double.parseDouble(text))));
      default -> Optional.empty(); // a place of SCAN, or none
    };
  }
}
