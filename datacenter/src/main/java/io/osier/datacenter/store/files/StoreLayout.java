package io.osier.datacenter.store.files;

import java.nio.file.Path;

/** Where the files of a store are, in its directory. */
public final class StoreLayout {
  private StoreLayout() {}

  public static Path database(Path dir) {
    return dir.resolve("db");
  }

  /** Where a backup is copied to before it takes the store's place. */
  static Path restoring(Path dir) {
    return dir.resolve("db.restoring");
  }

  /** What is being copied of a damaged store: not all of it yet. */
  static Path mending(Path dir) {
    return dir.resolve("db.mending");
  }

  /** A mended store that takes the damaged one's place. */
  static Path mended(Path dir) {
    return dir.resolve("db.mended");
  }
}
