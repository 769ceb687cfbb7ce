package io.osier.datacenter.copies;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.VersionVector;
import io.osier.datacenter.config.CopySettings;
import io.osier.protocol.Reply;
import org.jspecify.annotations.Nullable;

/** A datacenter ap that copies what eu holds, in virtual time. */
abstract class CopyFixture {
  static final CopySettings SETTINGS = new CopySettings(1 << 20, 1_000, 100);

  final CopyWorld world = new CopyWorld();
  final CopyWorld.Reader ap = world.new Reader("ap", SETTINGS);

  final @Nullable Reply copied(String key) {
    return ap.copied(key, VersionVector.EMPTY);
  }

  /** A copy of n, which is 1. */
  final void copyOfN() {
    world.increment("n");
    ap.heat("n");
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(1);
  }
}
