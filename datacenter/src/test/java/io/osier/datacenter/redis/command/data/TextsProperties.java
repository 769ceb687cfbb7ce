package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

final class TextsProperties {
  @Property
  void aRealIsFound_byWhatItIsWrittenAs(@ForAll double real) {
    assertThat(written(Double.toString(real))).contains(Value.of(real));
  }

  @Example
  void realsWithoutDigits_andLargeOnes_areFoundToo() {
    for (double real :
        new double[] {
          Double.NaN,
          Double.POSITIVE_INFINITY,
          Double.NEGATIVE_INFINITY,
          -0.0,
          1.5e-300,
          -Double.MAX_VALUE,
          Double.MIN_VALUE
        }) {
      aRealIsFound_byWhatItIsWrittenAs(real);
    }
  }

  @Example
  void whatIsWrittenAsNoRealIs_isATextAlone() {
    for (String text :
        List.of("", "1e5", "1.50", "0012", "1.5x", "-", ".5", "1.2.3", "-NaN", "Infinite", "1d")) {
      assertThat(written(text)).as(text).containsExactly(Value.of(text));
    }
    assertThat(written("12")).containsExactly(Value.of("12"), Value.of(12));
  }

  private static List<Value> written(String text) {
    return Texts.written(text.getBytes(StandardCharsets.UTF_8));
  }
}
