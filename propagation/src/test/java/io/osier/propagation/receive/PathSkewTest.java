package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import org.junit.jupiter.api.Test;

final class PathSkewTest {
  private static final long MILLI = 1_000_000;
  private static final ReplicaId A = new ReplicaId("a", 1);
  private static final ObjectId X = new ObjectId(Key.of("x"), CrdtType.PN_COUNTER);
  private static final ObjectId Y = new ObjectId(Key.of("y"), CrdtType.PN_COUNTER);

  private final PathSkew skew = new PathSkew(2_000 * MILLI);

  private void waits(long number, long millis) {
    long now = number * 10_000 * MILLI;
    skew.early("b", X, VersionVector.of(A, number), now);
    skew.arrived(A, X, number, now + millis * MILLI);
  }

  @Test
  void graceFollowsWhatWasMeasured_upAndDown_andIsBounded() {
    assertThat(skew.graceNanos("b")).isEqualTo(100 * MILLI);
    for (int i = 1; i <= 50; i++) {
      waits(i, 400);
    }
    assertThat(skew.graceNanos("b")).isBetween(500 * MILLI, 510 * MILLI);
    assertThat(skew.graceNanos("c")).as("another way").isEqualTo(100 * MILLI);
    for (int i = 51; i <= 150; i++) {
      waits(i, 10);
    }
    assertThat(skew.graceNanos("b")).isBetween(110 * MILLI, 120 * MILLI);
    for (int i = 151; i <= 200; i++) {
      waits(i, 1_990);
    }
    assertThat(skew.graceNanos("b")).isEqualTo(2_000 * MILLI);
  }

  @Test
  void whatIsLate_becauseItWasLostOrCaughtUp_tellsNothing() {
    waits(1, 2_001);
    skew.early("b", X, VersionVector.of(A, 2), 0);
    skew.interrupted("a");
    skew.arrived(A, X, 2, 900 * MILLI);
    assertThat(skew.graceNanos("b")).isEqualTo(100 * MILLI);
  }

  @Test
  void onlyWhatWasAwaited_isMeasured() {
    skew.early("b", X, VersionVector.of(A, 5), 0);
    skew.arrived(A, X, 4, 50 * MILLI);
    skew.arrived(A, Y, 6, 60 * MILLI);
    assertThat(skew.graceNanos("b")).isEqualTo(100 * MILLI);
    skew.arrived(A, X, 7, 300 * MILLI);
    assertThat(skew.graceNanos("b")).as("mean and deviations").isEqualTo(1_000 * MILLI);
  }
}
