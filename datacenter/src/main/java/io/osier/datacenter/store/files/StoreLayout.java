package io.osier.datacenter.store.files;

import java.nio.file.Path;

/** The places of a store's files in its directory. */
public final class StoreLayout {
  private StoreLayout() {}

  public static Path database(Path dir) {
    return dir.resolve("db");
  }

  /** Returns where a backup is copied to before it takes the store's place. */
  static Path restoring(Path dir) {
    return dir.resolve("db.restoring");
  }

  /**
   * Returns where the readable records of a damaged store are copied to; the copy is not complete.
   */
  static Path mending(Path dir) {
    return dir.resolve("db.mending");
  }

  /** Returns where the complete copy is until it takes the damaged store's place. */
  static Path mended(Path dir) {
    return dir.resolve("db.mended");
  }
}
