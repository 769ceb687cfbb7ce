package io.osier.datacenter.words;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.Value;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WordTest {
  private static Word word(String text) {
    return new Word(text, false);
  }

  @Test
  void split_atBlanksOutsideQuotes() {
    assertThat(Word.split("set add  k \"two words\" x"))
        .containsExactly(
            word("set"), word("add"), word("k"), new Word("two words", true), word("x"));
    assertThat(Word.split(" \t ")).isEmpty();
    assertThat(Word.split("register set k \"\"")).contains(new Word("", true));
  }

  @Test
  void seconds_areTakenUpToTheYear10000_andElseRefused() {
    assertThat(Words.after(word("100000000000")).millis()).isEqualTo(100_000_000_000_000L);
    assertThat(Words.after(word("0.0000000001e1")).millis()).isOne();
    assertThat(Words.after(word("-9223372036854775807")).millis()).isZero();
    for (String bad :
        List.of("9223372036854775807", "9223372036854775808", "1e999999999", "1e-999999999", "x")) {
      assertThatThrownBy(() -> Words.after(word(bad))).isInstanceOf(OsierException.class);
    }
  }

  @Test
  void split_takesQuotesInTheMiddleOfAWord() {
    assertThat(Word.split("city='New York' name=\"Ada L\""))
        .containsExactly(new Word("city=New York", true), new Word("name=Ada L", true));
  }

  @Test
  void quotesAroundAName_sayNothingOfItsValue() {
    assertThat(Word.split("'New York'=42 'a=b' a='b=c'"))
        .containsExactly(word("New York=42"), new Word("a=b", true), new Word("a=b=c", true));
  }

  @Test
  void split_takesWhatFollowsABackslash() {
    assertThat(Word.split("it\\'s \"a \\\"b\\\"\" 'c\\d'"))
        .containsExactly(word("it's"), new Word("a \"b\"", true), new Word("c\\d", true));
  }

  @Test
  void split_refusesWhatIsNotClosed() {
    assertThatThrownBy(() -> Word.split("set add k 'two words"))
        .isInstanceOf(OsierException.class)
        .hasMessage("INVALID_ARGUMENT: a ' is opened and not closed");
    assertThatThrownBy(() -> Word.split("k \\"))
        .hasMessageStartingWith("INVALID_ARGUMENT: nothing follows");
  }

  @Test
  void value_inQuotesIsAString() {
    assertThat(Words.value(Word.split("'42'").getFirst())).isEqualTo(Value.of("42"));
    assertThat(Words.value(Word.split("\"42\"").getFirst())).isEqualTo(Value.of("42"));
    assertThat(Words.value(Word.ofArgument("'42'"))).isEqualTo(Value.of("42"));
    assertThat(Words.value(Word.ofArgument("\"42\""))).isEqualTo(Value.of("42"));
    assertThat(Word.ofArgument("a=\"b\" and \"c\"")).isEqualTo(word("a=\"b\" and \"c\""));
    assertThat(Word.ofArgument("n='4 2'")).isEqualTo(new Word("n=4 2", true));
    assertThat(Word.ofArgument("'")).isEqualTo(word("'"));
  }
}
