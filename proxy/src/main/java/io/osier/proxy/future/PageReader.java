package io.osier.proxy.future;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What is read page by page: the next one is asked for when the one before it was answered. Used by
 * one caller at a time.
 */
public interface PageReader<R> {
  boolean isAtEnd();

  /** The next page; one that may be empty although others follow. Not at the end. */
  CompletableFuture<List<R>> nextRows();
}
