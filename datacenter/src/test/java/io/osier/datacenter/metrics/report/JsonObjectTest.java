package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class JsonObjectTest {
  @Test
  void whatIsPut_isReadBackByAJsonLibrary() throws IOException {
    String text = "a \"quoted\" \\ \n \u0000 \u20ac \ud83d\ude00";
    JsonObject object = new JsonObject().put("text", text).put("long", Long.MIN_VALUE);
    object.put("double", 0.1).put("none", Double.NaN).put("truth", true).put(text, 1);
    object.object("inner").put("a", 1);
    object.object("inner").put("b", 2);
    JsonObject.Array array = object.putArray("array");
    array.addObject().put("x", 1e300);
    array.addObject();
    array.add("a text");
    object.putArray("empty");
    JsonNode read = new ObjectMapper().readTree(object.toString());
    assertThat(read.get("text").asText()).isEqualTo(text);
    assertThat(read.get("long").asLong()).isEqualTo(Long.MIN_VALUE);
    assertThat(read.get("double").asDouble()).isEqualTo(0.1);
    assertThat(read.get("none").isNull()).isTrue();
    assertThat(read.get("truth").asBoolean()).isTrue();
    assertThat(read.get(text).asInt()).isEqualTo(1);
    assertThat(read.get("inner").toString()).isEqualTo("{\"a\":1,\"b\":2}");
    assertThat(read.get("array")).hasSize(3);
    assertThat(read.get("array").get(2).asText()).isEqualTo("a text");
    assertThat(read.get("array").get(0).get("x").asDouble()).isEqualTo(1e300);
    assertThat(read.get("empty")).isEmpty();
  }

  @Test
  void whatATerminalObeys_isEscaped() throws IOException {
    String text = "\u001b[2J \u007f \u009b \u202e \u2028 \ufeff \ud83d\ude00";
    String json = new JsonObject().put("text", text).toString();
    assertThat(json).matches("[ -~]*");
    assertThat(new ObjectMapper().readTree(json).get("text").asText()).isEqualTo(text);
  }
}
