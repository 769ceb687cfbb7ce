package io.osier.datacenter.metrics.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Builds a JSON object, with as much of JSON as reports need, so that an embedded datacenter brings
 * no JSON library into its host program. Not thread-safe.
 */
public final class JsonObject {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** A list of objects, texts and numbers. */
  public static final class Array {
    private final List<Object> elements = new ArrayList<>();

    private Array() {}

    public JsonObject addObject() {
      JsonObject element = new JsonObject();
      elements.add(element);
      return element;
    }

    public void add(String element) {
      elements.add(element);
    }

    public void add(long element) {
      elements.add(element);
    }

    /**
     * Adds a number, rounded to a whole number from 1,000 on and to three decimals below; null if
     * it is not finite.
     */
    public void add(double element) {
      if (Double.isFinite(element) && Math.abs(element) >= 1_000) {
        elements.add(Math.round(element));
      } else {
        elements.add(Double.isFinite(element) ? Math.round(element * 1e3) / 1e3 : null);
      }
    }
  }

  public JsonObject put(String name, String value) {
    fields.put(name, value);
    return this;
  }

  public JsonObject put(String name, long value) {
    fields.put(name, value);
    return this;
  }

  /** Puts a number; null if it is not finite. */
  public JsonObject put(String name, double value) {
    fields.put(name, Double.isFinite(value) ? value : null);
    return this;
  }

  public JsonObject put(String name, boolean value) {
    fields.put(name, value);
    return this;
  }

  public JsonObject put(String name, Iterable<String> texts) {
    texts.forEach(putArray(name)::add);
    return this;
  }

  public JsonObject putObject(String name) {
    JsonObject value = new JsonObject();
    fields.put(name, value);
    return value;
  }

  /** Returns the object that was put under the name, or puts a new one. */
  JsonObject object(String name) {
    return fields.get(name) instanceof JsonObject value ? value : putObject(name);
  }

  /**
   * Puts a list with an object for each of {@code all}, into which {@code fields} puts its fields.
   */
  public <T> JsonObject put(String name, Iterable<T> all, BiConsumer<T, JsonObject> fields) {
    Array objects = putArray(name);
    all.forEach(of -> fields.accept(of, objects.addObject()));
    return this;
  }

  public Array putArray(String name) {
    Array value = new Array();
    fields.put(name, value);
    return value;
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    write(out);
    return out.toString();
  }

  private void write(StringBuilder out) {
    out.append('{');
    String separator = "";
    for (Map.Entry<String, Object> field : fields.entrySet()) {
      out.append(separator);
      writeText(out, field.getKey());
      out.append(':');
      write(out, field.getValue());
      separator = ",";
    }
    out.append('}');
  }

  private static void write(StringBuilder out, Object value) {
    switch (value) {
      case JsonObject object -> object.write(out);
      case Array array -> {
        out.append('[');
        String separator = "";
        for (Object element : array.elements) {
          out.append(separator);
          write(out, element);
          separator = ",";
        }
        out.append(']');
      }
      case String text -> writeText(out, text);
      case null -> out.append("null");
      default -> out.append(value); // a number or a boolean
    }
  }

  /**
   * Returns whether a character is escaped: where JSON demands it, where UTF-8 cannot encode it
   * (half of a surrogate pair), and where a terminal would obey it.
   */
  private static boolean isEscaped(char c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      default -> false;
    };
  }

  private static void writeText(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (isEscaped(c)) {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
