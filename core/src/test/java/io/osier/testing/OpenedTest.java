package io.osier.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OpenedTest {
  private final List<String> closed = new ArrayList<>();
  private final Opened opened = new Opened();

  @Test
  void whatCannotBeClosed_leavesNothingElseOpen_andIsSaid() {
    Exception cannot = new IllegalStateException("busy");
    opened.add(() -> closed.add("first"));
    opened.add(
        () -> {
          throw cannot;
        });
    opened.add(() -> closed.add("last"));
    assertThatThrownBy(opened::close)
        .isInstanceOf(AssertionError.class)
        .satisfies(e -> assertThat(e.getSuppressed()).containsExactly(cannot));
    assertThat(closed).containsExactly("last", "first");
    opened.close();
    assertThat(closed).as("once").hasSize(2);
  }
}
