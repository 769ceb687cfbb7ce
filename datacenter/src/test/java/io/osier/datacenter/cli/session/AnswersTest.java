package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How what may be old is printed. */
final class AnswersTest {
  private static Keyspace.Found found(Optional<Duration> age) {
    return new Keyspace.Found(
        Optional.of(CrdtType.PN_COUNTER), Optional.of(new Reading.Count(7)), true, age);
  }

  @Test
  void age_isBehindTheValue_inJsonAField_andWhereProgramsReadTextNot() {
    Keyspace.Found old = found(Optional.of(Duration.ofMillis(11_001)));
    assertThat(new Answers(false, false).found(old)).isEqualTo("7 (as of 12 s ago)");
    assertThat(new Answers(false, true).found(old)).isEqualTo("7");
    assertThat(new Answers(true, true).found(old)).contains("\"age_ms\":11001");
    Keyspace.Found current = found(Optional.empty());
    assertThat(new Answers(false, false).found(current)).isEqualTo("7");
    assertThat(new Answers(true, false).found(current)).doesNotContain("age");
  }
}
