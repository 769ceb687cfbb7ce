package io.osier.propagation;

import io.osier.testing.Transcripts;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden transcripts of a replica: after each command, everything that it sent and showed. */
final class TranscriptTest {
  @ParameterizedTest
  @ValueSource(strings = {"catch-up", "gap", "repair-through-a-third", "cut", "switch-of-modes"})
  void everythingThatComesOut_isAsItWas(String name) throws IOException {
    Transcripts.assertAsItWas(getClass(), name, new Script()::run);
  }
}
