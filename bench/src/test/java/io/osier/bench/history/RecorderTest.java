package io.osier.bench.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.history.History.Op;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which programs are known to be done in turn. */
final class RecorderTest {
  /**
   * Two sessions whose programs read that nobody wrote, and replace it; both saw themselves win.
   */
  private static Recorder replacedTwice(String at) {
    Recorder recorder = new Recorder(List.of("us"));
    for (int i = 0; i < 2; i++) {
      List<Op> ops = List.of(new Op(false, 7, 0), new Op(true, 7, recorder.newValue()));
      recorder.addProgram(recorder.newSession(), ops, List.of(), at);
    }
    return recorder;
  }

  @Test
  void programsAtOneThatAsksNowThisHolderAndNowThat_areInNoTurn() {
    assertThat(replacedTwice("us").history().violation().orElse(""))
        .contains("both read and replaced r7=0");
    assertThat(replacedTwice("ap").history().violation()).isEmpty();
    assertThat(replacedTwice("ap").summary()).contains("2 of them programs");
  }
}
