package io.osier.datacenter.server;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.osier.core.Key;
import io.osier.datacenter.admin.ClusterQuestions;
import io.osier.datacenter.admin.Dashboard;
import io.osier.datacenter.admin.HistoryKeeper;
import io.osier.datacenter.admin.Inquiry;
import io.osier.datacenter.admin.OwnStatus;
import io.osier.datacenter.metrics.report.Inspector;
import io.osier.datacenter.metrics.report.Publisher;
import io.osier.protocol.AdminRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reports of this datacenter and the others, for the dashboard and for {@code why} requests: makes
 * this one's, and exchanges them with peers. Needed without an admin port, too, since the peers'
 * dashboards ask for them. Thread-safe.
 */
final class Reports implements AutoCloseable {
  private final Publisher publisher;
  private final HistoryKeeper history;
  private final ClusterQuestions questions;
  private final Inquiry inquiry;
  private final Dashboard dashboard;
  private volatile boolean everySecond;

  /**
   * Makes the reports.
   *
   * @param notes sends a note to a datacenter if it is connected
   * @param elsewhere returns the holders of a keyspace that is not held here; empty for any other
   * @param copied returns whether reads of a key are answered from a copy
   * @param clients returns the address of this datacenter's port for clients
   */
  Reports(
      String dc,
      Publisher publisher,
      Inspector inspector,
      PeerDirectory peers,
      BiConsumer<String, byte[]> notes,
      Function<String, List<String>> elsewhere,
      BiPredicate<String, Key> copied,
      Supplier<String> clients) {
    this.publisher = publisher;
    this.history = new HistoryKeeper(dc);
    OwnStatus status = new OwnStatus(publisher, clients);
    this.questions =
        new ClusterQuestions(
            dc,
            () -> peers.addresses().keySet(),
            question ->
                Inquiry.answer(
                        question,
                        status::now,
                        (keyspace, key) -> {
                          List<String> holders = elsewhere.apply(keyspace);
                          return holders.isEmpty()
                              ? inspector.key(keyspace, key)
                              : completedFuture(
                                  Inspector.heldBy(keyspace, holders, copied.test(keyspace, key)));
                        })
                    .thenApply(text -> Inquiry.withAddresses(text, peers.addresses())),
            notes);
    this.inquiry = new Inquiry(dc, questions, peers::addresses);
    this.dashboard =
        new Dashboard(
            dc,
            peers.addresses().keySet(),
            peers::clientAddresses,
            () -> everySecond ? status.published() : status.now(),
            notes,
            Dashboard.TICK_MILLIS);
  }

  /** Starts to publish metrics once a second, and to keep them for an hour. */
  void everySecond() {
    everySecond = true;
    publisher.listen(history::take);
    publisher.everySecond();
  }

  HistoryKeeper history() {
    return history;
  }

  Dashboard dashboard() {
    return dashboard;
  }

  /** Asks all datacenters a {@code why} question; see {@link AdminRequest.Administer#asksWhy}. */
  CompletableFuture<String> why(AdminRequest.Administer request) {
    return inquiry.ask(request);
  }

  /** Handles a note of another datacenter. */
  void noted(String from, byte[] content) {
    if (ClusterQuestions.isNote(content)) {
      questions.noted(from, content);
    } else {
      dashboard.noted(from, content);
    }
  }

  @Override
  public void close() {
    dashboard.close();
  }
}
