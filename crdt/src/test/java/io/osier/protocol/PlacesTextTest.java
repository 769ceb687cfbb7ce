package io.osier.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PlacesTextTest {
  /** Positions of 64 homes with 8 partitions each, written by 24 lives of datacenters. */
  @Test
  void positionOfAsManyPlacesAsThereMayBe_isReadAgain() {
    VersionVector seen = VersionVector.EMPTY;
    for (int life = 0; life < 24; life++) {
      seen = seen.with(new ReplicaId("dc" + life % 3, 1_700_000_000_000L + life), 1L << 35);
    }
    WatchRequest.Place place =
        new WatchRequest.Place(Long.MAX_VALUE, 1L << 35, seen, Optional.empty());
    List<WatchRequest.Place> all = Collections.nCopies(512, place);
    assertThat(PlacesText.read(PlacesText.of(all), "a test")).isEqualTo(all);
  }
}
