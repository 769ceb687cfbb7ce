package io.osier.proxy.future;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Reads pages one after another; the next must not be requested before the last one has been
 * answered. For one caller at a time.
 */
public interface PageReader<R> {
  boolean isAtEnd();

  /**
   * Reads the next page, which may be empty although others follow. Must not be called at the end.
   */
  CompletableFuture<List<R>> nextRows();
}
