package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import io.osier.datacenter.words.Word;
import io.osier.datacenter.words.Words;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What is printed of values and keys means the same when it comes in again. */
final class ValueTextProperties {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Texts that look like something else, and those of characters that mean something. */
  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> pieces =
        Arbitraries.of(
            "",
            "0",
            "42",
            "-",
            "+",
            ".",
            "e",
            "E5",
            "0x",
            "ff",
            "a",
            "NaN",
            "Infinity",
            "true",
            "null",
            "str:",
            "int:",
            "real:",
            "bytes:",
            "$",
            "'",
            "\"",
            "\\",
            "\n",
            "\r",
            "\t",
            "\0",
            "\u001b[2J",
            "\u009b",
            "\u202e",
            "\u2028",
            "\u00a0",
            "\u3000",
            " ",
            ",",
            "{",
            "}",
            ":",
            "=",
            "(",
            "n",
            "u0041",
            "\u05d0",
            "\ud83d\ude00",
            "\u200d",
            "\ufeff",
            "\udb40\udc41");
    Arbitrary<String> composed =
        pieces.list().ofMinSize(0).ofMaxSize(5).map(list -> String.join("", list));
    Arbitrary<String> any =
        Arbitraries.strings().all().ofMaxLength(6).filter(ValueTextProperties::isText);
    return Arbitraries.oneOf(
        composed,
        any,
        Arbitraries.longs().map(String::valueOf),
        Arbitraries.doubles().map(String::valueOf));
  }

  private static boolean isText(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8).equals(text);
  }

  @Provide
  Arbitrary<Value> values() {
    return Arbitraries.oneOf(
        texts().map(Value::of),
        Arbitraries.oneOf(
                Arbitraries.longs(),
                Arbitraries.of(
                    Long.MIN_VALUE, Long.MAX_VALUE, 0L, -1L, (1L << 53) + 1, -(1L << 53) - 1))
            .map(Value::of),
        Arbitraries.oneOf(
                Arbitraries.longs().map(Double::longBitsToDouble),
                Arbitraries.of(
                    0.0,
                    -0.0,
                    1e308,
                    Double.MIN_VALUE,
                    Double.MAX_VALUE,
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    Double.NEGATIVE_INFINITY,
                    1e7,
                    1e-3,
                    42.0))
            .map(Value::of),
        Arbitraries.oneOf(
                Arbitraries.bytes().array(byte[].class).ofMaxSize(6),
                texts().map(t -> t.getBytes(StandardCharsets.UTF_8)))
            .map(Value::of));
  }

  @Property
  void value_isReadAgain_asATypedWord_andAsAnArgument(@ForAll("values") Value value) {
    String text = ValueText.of(value);
    assertHarmless(text);
    List<Word> typed = Word.split("register set k " + text);
    assertThat(typed).hasSize(4);
    assertThat(Words.value(typed.getLast())).isEqualTo(value);
    assertThat(Words.value(Word.ofArgument(text))).isEqualTo(value);
    assertThat(text).doesNotStartWith("--").isNotEqualTo("(nothing)");
  }

  @Property
  void value_isReadAgain_behindAFieldsName(@ForAll("values") Value value) {
    String text = "f=" + ValueText.of(value);
    for (Word word : List.of(Word.split("map set k " + text).getLast(), Word.ofArgument(text))) {
      assertThat(word.text()).startsWith("f=");
      assertThat(Words.value(new Word(word.text().substring(2), word.literal()))).isEqualTo(value);
    }
  }

  @Property
  void value_ofAType_isReadFromItsType(@ForAll("texts") String text, @ForAll long number) {
    assertThat(Words.value(Word.ofArgument("str:" + text))).isEqualTo(Value.of(text));
    assertThat(Words.value(Word.ofArgument("int:" + number))).isEqualTo(Value.of(number));
    double real = Double.longBitsToDouble(number);
    assertThat(Words.value(Word.ofArgument("real:" + real))).isEqualTo(Value.of(real));
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    String hex = HexFormat.of().formatHex(bytes);
    assertThat(Words.value(Word.ofArgument("bytes:0x" + hex))).isEqualTo(Value.of(bytes));
  }

  @Property
  void elementsOfASet_canBeToldApart(@ForAll("values") Value a, @ForAll("values") Value b) {
    String text = ReadingFormat.text(new Reading.Many(List.of(a, b)));
    assertHarmless(text);
    // Blanks part words, and a word that is not quoted has no comma.
    String inside = text.substring(1, text.length() - 1);
    String first = ValueText.of(a);
    assertThat(inside).isEqualTo(first + ", " + ValueText.of(b));
    assertThat(Word.split(inside)).hasSize(2);
  }

  @Property
  void value_isReadAgainFromJson(@ForAll("values") Value value) throws JsonProcessingException {
    String json = ValueText.harmless(ValueText.json(value).toString());
    assertHarmless(json);
    assertThat(ofJson(JSON.readTree(json))).isEqualTo(value);
  }

  private static Value ofJson(JsonNode node) {
    if (node.isObject()) {
      assertThat(node.size()).isEqualTo(1);
      return node.has("$real")
          ? Value.of(Double.parseDouble(node.get("$real").asText()))
          : Value.of(HexFormat.of().parseHex(node.get("$bytes").asText().substring(2)));
    }
    if (node.isTextual()) {
      return Value.of(node.asText());
    }
    return node.isIntegralNumber() ? Value.of(node.asLong()) : Value.of(node.asDouble());
  }

  @Provide
  Arbitrary<Key> keys() {
    return Arbitraries.oneOf(
        texts().filter(t -> !t.isEmpty()).map(Key::of),
        Arbitraries.bytes().array(byte[].class).ofMinSize(1).ofMaxSize(6).map(Key::of),
        Arbitraries.of("bytes:0xff", "bytes:0x", "bytes:sent", "0xff").map(Key::of));
  }

  @Property
  void key_isReadAgain(@ForAll("keys") Key key) throws JsonProcessingException {
    String text = ValueText.of(key);
    assertHarmless(text);
    List<Word> typed = Word.split("get " + text);
    assertThat(typed).hasSize(2);
    assertThat(Words.key(typed.getLast())).isEqualTo(key);
    assertThat(Words.key(Word.ofArgument(text))).isEqualTo(key);
    JsonNode json = JSON.readTree(ValueText.harmless(ValueText.json(key).toString()));
    assertThat(
            json.isTextual()
                ? Key.of(json.asText())
                : Key.of(HexFormat.of().parseHex(json.get("$bytes").asText().substring(2))))
        .isEqualTo(key);
  }

  @Property
  void keys_thatDiffer_arePrintedDifferently(@ForAll("keys") Key a, @ForAll("keys") Key b) {
    assertThat(ValueText.of(a).equals(ValueText.of(b))).isEqualTo(a.equals(b));
  }

  @Property
  void values_thatDiffer_arePrintedDifferently(
      @ForAll("values") Value a, @ForAll("values") Value b) {
    assertThat(ValueText.of(a).equals(ValueText.of(b))).isEqualTo(a.equals(b));
  }

  @Property
  void fields_ofAnyNames_areAllInJson(@ForAll("texts") String a, @ForAll("texts") String b) {
    TreeMap<FieldId, Reading> fields = new TreeMap<>();
    fields.put(new FieldId(a, CrdtType.LWW_REGISTER), new Reading.Single(Optional.of(Value.of(1))));
    fields.put(new FieldId(b, CrdtType.PN_COUNTER), new Reading.Count(2));
    JsonNode json = ReadingFormat.json(new Reading.Fields(fields));
    if (a.equals(b)) {
      JsonNode types = json.get(ValueText.jsonName(a)).get("$types");
      assertThat(types.get("register").asLong()).isEqualTo(1);
      assertThat(types.get("counter").asLong()).isEqualTo(2);
    } else {
      assertThat(json.get(ValueText.jsonName(a)).asLong()).isEqualTo(1);
      assertThat(json.get(ValueText.jsonName(b)).asLong()).isEqualTo(2);
    }
  }

  @Property
  void fieldOfADollar_isNoTypeOfJson(@ForAll("texts") String name) {
    TreeMap<FieldId, Reading> fields = new TreeMap<>();
    fields.put(
        new FieldId("$bytes" + name, CrdtType.LWW_REGISTER),
        new Reading.Single(Optional.of(Value.of("0xff"))));
    assertThat(ReadingFormat.json(new Reading.Fields(fields)).has("$$bytes" + name)).isTrue();
  }

  private static void assertHarmless(String printed) {
    assertThat(printed.codePoints())
        .noneMatch(Character::isISOControl)
        .noneMatch(c -> c == 0x202e || c == 0x2028 || c == 0xfeff);
  }

  @Example
  void numbers_keepWhatWasWritten() {
    assertThat(word("9223372036854775807")).isEqualTo(Value.of(Long.MAX_VALUE));
    assertThat(word("-9223372036854775808")).isEqualTo(Value.of(Long.MIN_VALUE));
    assertThat(word("9223372036854775808")).isEqualTo(Value.of("9223372036854775808"));
    assertThat(word("02139")).isEqualTo(Value.of("02139"));
    assertThat(word("-0")).isEqualTo(Value.of("-0"));
    assertThat(word("1.0e999")).isEqualTo(Value.of("1.0e999"));
    assertThat(word("1.0e-999")).isEqualTo(Value.of("1.0e-999"));
    assertThat(word("0.0e-999")).isEqualTo(Value.of(0.0));
    assertThat(word("4.20")).isEqualTo(Value.of(4.2));
    assertThat(word("-0.0")).isEqualTo(Value.of(-0.0));
    assertThat(word("1e3")).isEqualTo(Value.of("1e3"));
    assertThat(word("real:1e3")).isEqualTo(Value.of(1000.0));
    assertThat(word("real:-Infinity")).isEqualTo(Value.of(Double.NEGATIVE_INFINITY));
    assertThat(word("str:42")).isEqualTo(Value.of("42"));
    assertThat(word("str:")).isEqualTo(Value.of(""));
    assertThat(word("bytes:0x")).isEqualTo(Value.of(new byte[0]));
  }

  @Example
  void typeThatDoesNotFit_isSaid() {
    for (String wrong :
        List.of(
            "bytes:",
            "int:4.2",
            "int:9223372036854775808",
            "real:1e999",
            "real:0x1p3",
            "bytes:0xf")) {
      assertThatThrownBy(() -> Words.value(Word.ofArgument(wrong)))
          .isInstanceOf(OsierException.class)
          .hasMessageContaining("str:" + wrong);
    }
  }

  @Example
  void stringOfATypedLine_mayBeQuotedBehindItsType() {
    assertThat(Words.value(Word.split("str:'New York'").getFirst()))
        .isEqualTo(Value.of("New York"));
    assertThat(Words.value(Word.split("'str:4'").getFirst())).isEqualTo(Value.of("str:4"));
    assertThat(Word.split("city=str:'42'")).containsExactly(new Word("city=42", true));
    assertThat(Words.value(Word.split("$'a\\n\\u001b\\'\\U0001f600'").getFirst()))
        .isEqualTo(Value.of("a\n\u001b'\ud83d\ude00"));
    assertThatThrownBy(() -> Word.split("$'a")).hasMessageContaining("not closed");
    assertThatThrownBy(() -> Word.split("$'\\q'")).hasMessageContaining("hexadecimal");
  }

  private static Value word(String text) {
    return Words.value(Word.ofArgument(text));
  }

  @Example
  void text_isPlainWhereItCanBe() {
    assertThat(ValueText.of(Value.of("hello"))).isEqualTo("hello");
    assertThat(ValueText.of(Value.of("New York"))).isEqualTo("\"New York\"");
    assertThat(ValueText.of(Value.of("42"))).isEqualTo("\"42\"");
    assertThat(ValueText.of(Value.of(""))).isEqualTo("\"\"");
    assertThat(ValueText.of(Value.of("it's\n"))).isEqualTo("$'it\\'s\\n'");
    assertThat(ValueText.of(Key.of("likes:42"))).isEqualTo("likes:42");
    assertThat(ValueText.of(Key.of(new byte[] {(byte) 0xff}))).isEqualTo("bytes:0xff");
    assertThat(ValueText.json(Value.of(Long.MAX_VALUE)))
        .isEqualTo(JsonNodeFactory.instance.numberNode(Long.MAX_VALUE));
  }
}
