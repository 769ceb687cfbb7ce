package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.metrics.report.Publisher;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Makes this datacenter's own status as JSON, for the dashboard and {@code why} requests: see
 * {@link StatusJson}. Thread-safe.
 */
public final class OwnStatus {
  /** How long to wait for a busy partition; after that its former values are used. */
  private static final long WAIT_MILLIS = 800;

  private final Publisher publisher;
  private final Supplier<String> clients;
  private final StatusJson json = new StatusJson();

  /** The status that is being made, or was made last. */
  private volatile CompletableFuture<String> made = CompletableFuture.completedFuture("");

  /**
   * Makes it.
   *
   * @param clients returns the address of this datacenter's port for clients
   */
  public OwnStatus(Publisher publisher, Supplier<String> clients) {
    this.publisher = publisher;
    this.clients = clients;
  }

  /** Returns the status of the last published snapshot. */
  public CompletableFuture<String> published() {
    return CompletableFuture.completedFuture(text(publisher.latest()));
  }

  /** Returns the present status. Concurrent callers get the same one. */
  public CompletableFuture<String> now() {
    CompletableFuture<String> one = made;
    if (one.isDone()) { // two threads may both make one
      one = publisher.recent(WAIT_MILLIS).thenApply(this::text);
      made = one;
    }
    return one.copy();
  }

  private String text(Snapshot snapshot) {
    return json.of(DashboardModel.of(snapshot, "osier cli --connect " + clients.get()));
  }
}
