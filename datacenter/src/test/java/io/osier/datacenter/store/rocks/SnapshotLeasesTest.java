package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** How long a snapshot is lent. */
final class SnapshotLeasesTest {
  private static final byte[] KEY = "k".getBytes(StandardCharsets.UTF_8);

  private static long seconds(long n) {
    return TimeUnit.SECONDS.toNanos(n);
  }

  private static String read(RocksDB db, SnapshotLease lease) throws RocksDBException {
    return new String(lease.read(options -> db.get(options, KEY)), StandardCharsets.UTF_8);
  }

  private static void write(RocksDB db, String value) throws RocksDBException {
    db.put(KEY, value.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void leaseEndsAfterAMinute_oneThatIsHeldLater(@TempDir Path directory) throws RocksDBException {
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, directory.toString())) {
      SnapshotLeases leases = new SnapshotLeases();
      write(db, "then");
      SnapshotLease held = leases.begin(db, 0);
      SnapshotLease other = leases.begin(db, seconds(1));
      write(db, "now");

      assertThat(other.isOld(seconds(25))).isTrue();
      assertThat(held.hold(seconds(25), 120_000, true)).isTrue();
      assertThat(held.isOld(seconds(25))).as("it stays").isFalse();
      SnapshotLease former = leases.begin(db, seconds(2));
      assertThat(former.hold(seconds(25), 120_000, false)).isTrue();
      assertThat(former.isOld(seconds(25))).as("only who reads what was needs it").isTrue();
      assertThat(former.hold(seconds(25), 10, true)).isTrue();
      leases.endOver(db, seconds(70));
      assertThat(read(db, held)).isEqualTo("then");
      assertThat(read(db, other)).as("behind one that is held").isEqualTo("now");
      assertThat(read(db, former)).isEqualTo("now");
      assertThat(former.hasEnded()).isFalse();
      assertThat(leases.size()).isEqualTo(2);

      assertThat(held.hold(seconds(140), 120_000, true)).isTrue();
      leases.endOver(db, seconds(200));
      assertThat(former.hasEnded()).isTrue();
      assertThat(read(db, held)).isEqualTo("then");
      leases.endOver(db, seconds(261));
      assertThat(held.hold(seconds(261), 120_000, true)).as("it has ended").isFalse();
      assertThat(held.isOld(seconds(261))).as("another one is to be taken").isTrue();
      assertThat(read(db, held)).isEqualTo("now");
      assertThat(leases.size()).isZero();
      leases.endAll(db);
    }
  }
}
