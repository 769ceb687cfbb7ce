package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.UpdateGrammar;
import io.osier.datacenter.words.Word;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HelpTextTest {
  @Test
  void everything_fitsIntoTheWidth_andEndsItsSentences() {
    String all = HelpText.text(List.of());
    assertThat(all.lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(HelpText.WIDTH));
    assertThat(all).endsWith(".");
  }

  @Test
  void everyCommandAndTypeAndVerb_isNamed() {
    String all = HelpText.text(List.of());
    assertThat(HelpText.commands()).containsAll(UpdateGrammar.WORDS);
    for (String command : HelpText.commands()) {
      isUnderstood(command);
      assertThat(all).containsPattern("\\b" + command + "\\b");
      assertThat(HelpText.text(List.of(command))).contains(command);
    }
    for (CrdtType type : CrdtType.values()) {
      assertThat(all).contains(type.label());
      assertThat(HelpText.text(List.of(type.label()))).contains(type.label());
      for (String verb : ObjectGrammar.verbs(type)) {
        assertThat(all).containsPattern("\\b" + verb + "\\b");
      }
    }
  }

  private static void isUnderstood(String command) {
    try {
      Grammar.parse(List.of(new Word(command, false)));
    } catch (OsierException e) {
      assertThat(e.reason()).doesNotContain("there is no command");
    }
  }

  @Test
  void words_chooseLines_andUnknownOnesAreRefused() {
    assertThat(HelpText.text(List.of("map", "range")).lines()).hasSize(3);
    assertThat(HelpText.text(List.of("values"))).startsWith("A VALUE");
    assertThatThrownBy(() -> HelpText.text(List.of("frobnicate")))
        .hasMessageContaining("no help on 'frobnicate'");
  }
}
