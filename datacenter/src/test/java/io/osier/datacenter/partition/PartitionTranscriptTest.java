package io.osier.datacenter.partition;

import io.osier.testing.Transcripts;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden transcripts of the partition as a whole: after each command the effects. */
final class PartitionTranscriptTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "durable-write",
        "parked-demand",
        "conflicting-transactions",
        "rights",
        "switch-of-modes",
        "full-queue",
        "spread"
      })
  void everyEffect_isAsItWas(String name) throws IOException {
    Transcripts.assertAsItWas(getClass(), name, new Script()::run);
  }
}
