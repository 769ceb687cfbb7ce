package io.osier.datacenter.copies;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.datacenter.config.CopySettings;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A datacenter ap that copies what eu holds, in virtual time. */
abstract class CopyFixture {
  static final CopySettings SETTINGS = new CopySettings(1 << 20, 1_000, 100);

  final CopyWorld world = new CopyWorld();
  final CopyWorld.Reader ap = world.new Reader("ap", SETTINGS);

  final @Nullable Reply copied(String key) {
    return ap.copied(key, VersionVector.EMPTY);
  }

  static VersionVector upTo(Dot dot) {
    return VersionVector.of(dot.replica(), dot.number());
  }

  /** A read of n as if it were a set. */
  static Request.Read ofWrongType() {
    return new Request.Read(
        "shop",
        Key.of("n"),
        Optional.of(CrdtType.AW_SET),
        new Query.Whole(),
        VersionVector.EMPTY,
        false,
        0);
  }

  /** A forwarded scan shows these updates, of whichever keys. */
  final void scanShows(VersionVector seen) {
    ap.copies.answered(
        "eu",
        new ScanRequest("shop", Optional.empty(), Optional.empty(), new Query.Exists(), 10),
        Optional.empty(),
        new Reply.Page(List.of(), Optional.empty(), List.of(seen)),
        20);
  }

  /** A copy of n, which is 1. */
  final void copyOfN() {
    world.increment("n");
    ap.heat("n");
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(1);
  }
}
