package io.osier.datacenter.store.records;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Partitioning;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** A store whose objects are decomposed when they have some elements, against a map in memory. */
final class DecomposedStoreProperties extends DecomposedStores {
  private static final int PARTITIONS = 2_000;
  private static int partitions;
  private static Path dir;
  private static RocksDatabase database;

  @BeforeContainer
  static void open() throws IOException {
    dir = Files.createTempDirectory("osier-decomposed");
    database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1);
  }

  @AfterContainer
  static void close() throws IOException {
    database.close();
    try (Stream<Path> files = Files.walk(dir)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(f -> f.delete());
    }
  }

  private static Disk rocks() {
    RocksVersions versions = database.partition("k" + partitions++, 0, Partitioning.byKey(1));
    return new Disk() {
      @Override
      public VersionStore versions() {
        return versions;
      }

      @Override
      public void write(List<Change> changes) {
        database.write(List.of(versions.encode(changes)));
      }

      @Override
      public void endLeases() {
        database.leases().endAll(database.db());
      }
    };
  }

  @Property(tries = 600)
  void inMemory_isAsInAMap(@ForAll("steps") List<Step> steps) {
    run(new Scene(inMemory(), new DecompositionLimits(120, 6)), steps, scene -> {});
  }

  @Property(tries = 150)
  void inRocksDb_isAsInAMap(@ForAll("steps") List<Step> steps) {
    assertThat(partitions).isLessThan(PARTITIONS);
    run(new Scene(rocks(), new DecompositionLimits(120, 6)), steps, scene -> {});
  }
}
