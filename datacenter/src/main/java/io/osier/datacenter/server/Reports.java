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
import io.osier.protocol.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What a datacenter tells of itself and of the others, and what it is told by them: for the page,
 * and for who asks why. Made also where no admin port is: the peers' pages ask for it. Thread-safe.
 */
final class Reports implements AutoCloseable {
  private final Publisher publisher;
  private final HistoryKeeper history;
  private final ClusterQuestions questions;
  private final Inquiry inquiry;
  private final Dashboard dashboard;
  private volatile boolean everySecond;

  /**
   * @param notes sends a note to a datacenter, if it can
   * @param elsewhere who holds a keyspace that is not held here; nobody of any other
   * @param copied whether reads of a key are answered from a copy of what others hold
   * @param clients how this datacenter's port for clients is reached
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

  /** From now on figures are published once a second, and kept for an hour. */
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

  /** Asks all datacenters why; see {@link Request.Administer#asksWhy}. */
  CompletableFuture<String> why(Request.Administer request) {
    return inquiry.ask(request);
  }

  /** Another datacenter has sent a note. */
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
