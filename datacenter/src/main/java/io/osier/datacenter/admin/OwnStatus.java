package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.metrics.report.Publisher;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * What this datacenter says of itself, as JSON, to who looks at the page or asks why: see {@link
 * StatusJson}. Thread-safe.
 */
public final class OwnStatus {
  /** Nobody is kept waiting for a busy partition: of that there is what was so before. */
  private static final long WAIT_MILLIS = 800;

  private final Publisher publisher;
  private final Supplier<String> clients;
  private final StatusJson json = new StatusJson();

  /** What is being made, or was made last. */
  private volatile CompletableFuture<String> made = CompletableFuture.completedFuture("");

  /**
   * @param clients how its port for clients is reached
   */
  public OwnStatus(Publisher publisher, Supplier<String> clients) {
    this.publisher = publisher;
    this.clients = clients;
  }

  /** As it was published last. */
  public CompletableFuture<String> published() {
    return CompletableFuture.completedFuture(text(publisher.latest()));
  }

  /** As it is now. Who asks while it is being made gets the same. */
  public CompletableFuture<String> now() {
    CompletableFuture<String> one = made;
    if (one.isDone()) { // two at one moment may both make it
      one = publisher.recent(WAIT_MILLIS).thenApply(this::text);
      made = one;
    }
    return one.copy();
  }

  private String text(Snapshot snapshot) {
    return json.of(DashboardModel.of(snapshot, "osier cli --connect " + clients.get()));
  }
}
