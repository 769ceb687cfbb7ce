package io.osier.proxy.values;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.ErrorCode;
import io.osier.core.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

@NullUnmarked
final class JsonValuesTest {
  record Address(String street, String city) {}

  record User(String name, List<Address> addresses, Map<String, Integer> scores) {}

  record Node(List<Object> children) {}

  private final JsonValues values = JsonValues.of(new ObjectMapper());

  @Test
  void objects_areTextInTheOrderOfNames() {
    ValueCodec<User> codec = values.codec(User.class);
    User ada =
        new User("Ada", List.of(new Address("Main", "York")), Map.of("b", 2, "a", 1, "c", 3));
    Value text = codec.encode(ada);
    assertThat(text)
        .isEqualTo(
            Value.of(
                "{\"addresses\":[{\"city\":\"York\",\"street\":\"Main\"}],\"name\":\"Ada\","
                    + "\"scores\":{\"a\":1,\"b\":2,\"c\":3}}"));
    assertThat(codec.decode(text)).isEqualTo(ada);
    assertThat(values.codec(String.class).encode("x")).isEqualTo(Value.of("x"));
    ValueCodec<List<Address>> lists = values.codec(new TypeReference<>() {});
    List<Address> list = List.of(new Address("s", "c"));
    assertThat(lists.decode(lists.encode(list))).isEqualTo(list);
  }

  @Test
  void theProgramsMapper_staysAsItIs() throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    JsonValues.of(mapper);
    assertThat(mapper.writeValueAsString(new Address("s", "c")))
        .isEqualTo("{\"street\":\"s\",\"city\":\"c\"}");
  }

  @Test
  void whatIsNone_isNamed() {
    ValueCodec<Address> codec = values.codec(Address.class);
    malformed(codec, Value.of(7), "it is no text");
    malformed(codec, Value.of("{"), "end-of-input");
    malformed(codec, Value.of("{} {}"), "Trailing");
    malformed(codec, Value.of("null"), "it is null");
    malformed(codec, Value.of("{\"street\":{}}"), "String");
    malformed(codec, Value.of("{\"other\":1}"), "other");
    List<Object> itself = new ArrayList<>();
    itself.add(itself);
    refused(ErrorCode.INVALID_ARGUMENT, () -> values.codec(Node.class).encode(new Node(itself)));
  }

  private static void malformed(ValueCodec<?> codec, Value value, String why) {
    refused(ErrorCode.MALFORMED, () -> codec.decode(value)).hasMessageContaining(why);
  }
}
