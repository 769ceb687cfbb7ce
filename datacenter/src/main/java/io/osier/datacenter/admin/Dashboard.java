package io.osier.datacenter.admin;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.metrics.report.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the dashboard's viewers the status of this datacenter and of the others once a second, as
 * server-sent events. Without a viewer, here or at a peer, it computes nothing and has no thread.
 *
 * <p>Bounded: at most {@value #VIEWERS_MAX} viewers. A viewer that does not read gets no message
 * while earlier ones are unsent, and is dropped after missing {@value #MISSES_MAX} in a row. All
 * viewers get the same bytes. Thread-safe: the work is done on one thread of its own.
 */
public final class Dashboard implements AutoCloseable {
  /** Most viewers at once. */
  static final int VIEWERS_MAX = 16;

  /** How many messages in a row a viewer may miss before it is dropped. */
  static final int MISSES_MAX = 5;

  /** Tells browsers after how many milliseconds to reconnect. */
  private static final byte[] HELLO = "retry: 2000\n\n".getBytes(StandardCharsets.UTF_8);

  private static final Logger LOG = LoggerFactory.getLogger(Dashboard.class);

  /** The interval of messages, in milliseconds. */
  public static final long TICK_MILLIS = 1_000;

  /** How long a status counts as fresh, so that it is not made more often. */
  private static final long FRESH_NANOS = 400_000_000;

  /** How long to wait for a status; a partition that takes longer is itself a finding. */
  private static final long STATUS_MILLIS_MAX = 900;

  /** A viewer's connection. */
  interface Viewer {
    /**
     * Sends bytes, unless earlier bytes are still unsent; returns whether it did. For any thread.
     */
    boolean send(byte[] piece);

    void close();

    /** Runs an action when the connection ends, at once if it has ended. */
    void whenClosed(Runnable then);
  }

  private static final class Watching {
    final Viewer viewer;
    int misses;

    Watching(Viewer viewer) {
      this.viewer = viewer;
    }
  }

  private final String self;
  private final Supplier<Map<String, String>> clients;
  private final Supplier<CompletableFuture<String>> source;
  private final BiConsumer<String, byte[]> notes;
  private final long tickMillis;
  private final ScheduledThreadPoolExecutor executor;
  private final AtomicInteger viewers = new AtomicInteger();

  // All that follows is used by the executor's thread only.
  private final StatusBoard board;
  private final List<Watching> watching = new ArrayList<>();
  private Optional<ScheduledFuture<?>> ticking = Optional.empty();
  private CompletableFuture<String> status = CompletableFuture.completedFuture("");
  private long statusNanos;
  private boolean isStatus;
  private long number;

  /**
   * Makes a dashboard.
   *
   * @param peers the other datacenters' names
   * @param clients returns the addresses of the datacenters' ports for clients, by name, as far as
   *     known
   * @param source makes this datacenter's status, as JSON; called by one thread
   * @param notes sends a note to a datacenter if it is connected
   * @param tickMillis {@link #TICK_MILLIS}, or less in a test
   */
  public Dashboard(
      String self,
      Collection<String> peers,
      Supplier<Map<String, String>> clients,
      Supplier<CompletableFuture<String>> source,
      BiConsumer<String, byte[]> notes,
      long tickMillis) {
    this.self = self;
    this.clients = clients;
    this.source = source;
    this.notes = notes;
    this.tickMillis = tickMillis;
    this.board = new StatusBoard(peers);
    this.executor =
        new ScheduledThreadPoolExecutor(
            1, r -> Thread.ofPlatform().name("osier-dashboard").daemon(true).unstarted(r));
    executor.setKeepAliveTime(5, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  public void setPeers(Set<String> others) {
    Set<String> now = Set.copyOf(others);
    execute(() -> board.setPeers(now));
  }

  int viewers() {
    return viewers.get();
  }

  /** Returns whether the limit of viewers is reached. */
  boolean isFull() {
    return viewers.get() >= VIEWERS_MAX;
  }

  /** Adds a viewer, or closes it if the limit is reached. */
  void join(Viewer viewer) {
    int now = viewers.incrementAndGet();
    viewer.whenClosed(viewers::decrementAndGet);
    if (now > VIEWERS_MAX || !viewer.send(HELLO)) {
      viewer.close();
      return;
    }
    execute(
        () -> {
          Watching one = new Watching(viewer);
          watching.add(one);
          viewer.whenClosed(() -> execute(() -> watching.remove(one)));
          if (ticking.isEmpty()) {
            ticking =
                Optional.of(
                    executor.scheduleAtFixedRate(this::tick, 0, tickMillis, TimeUnit.MILLISECONDS));
          }
        });
  }

  private void execute(Runnable task) {
    try {
      executor.execute(
          () -> {
            try {
              task.run();
            } catch (RejectedExecutionException e) {
              LOG.debug("the dashboard was closed meanwhile", e);
            } catch (RuntimeException e) {
              LOG.error("internal error in the dashboard", e);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("the dashboard is closed", e);
    }
  }

  private void tick() {
    try {
      if (watching.isEmpty()) {
        ticking.ifPresent(t -> t.cancel(false));
        ticking = Optional.empty();
        return;
      }
      byte[] ask = StatusBoard.encode(board.ask(System.nanoTime()));
      board.peers().forEach(dc -> notes.accept(dc, ask));
      status().whenCompleteAsync((json, error) -> show(json, error), executor);
    } catch (RuntimeException e) {
      LOG.error("internal error in the dashboard", e); // an exception would end the ticks
    }
  }

  /** Returns this datacenter's status; makes it unless the last one is still fresh. */
  private CompletableFuture<String> status() {
    long now = System.nanoTime();
    if (!isStatus || now - statusNanos >= FRESH_NANOS) {
      isStatus = true;
      statusNanos = now;
      status = source.get().orTimeout(STATUS_MILLIS_MAX, TimeUnit.MILLISECONDS);
    }
    return status;
  }

  private void show(String json, Throwable error) {
    if (error != null) {
      LOG.debug("no status", error);
    }
    long now = System.nanoTime();
    JsonObject message = new JsonObject();
    message.put("self", self).put("number", ++number).put("viewers", viewers.get());
    message.put("peers", board.peers());
    JsonObject addresses = message.putObject("clients");
    clients.get().forEach(addresses::put);
    JsonObject.Array all = message.putArray("statuses");
    if (error == null) {
      all.addObject().put("dc", self).put("age_ms", 0).put("by", self).put("status", json);
    }
    for (StatusBoard.Heard h : board.heard(now)) {
      // As text, so that a peer's JSON cannot break out of its place.
      all.addObject()
          .put("dc", h.dc())
          .put("age_ms", h.ageMillis())
          .put("by", h.by())
          .put("status", h.status());
    }
    byte[] event = ("data: " + message + "\n\n").getBytes(StandardCharsets.UTF_8);
    for (Watching one : List.copyOf(watching)) {
      if (one.viewer.send(event)) {
        one.misses = 0;
      } else if (++one.misses == MISSES_MAX) {
        LOG.info("a dashboard page does not read its updates; connection closed");
        one.viewer.close();
      }
    }
  }

  /** Handles a note of a peer. */
  public void noted(String from, byte[] content) {
    StatusBoard.Note note;
    try {
      note = StatusBoard.decode(content);
    } catch (MalformedException e) {
      LOG.debug("{} sent a note that cannot be decoded", from, e);
      return;
    }
    execute(
        () -> {
          switch (note) {
            case StatusBoard.Tell tell -> board.told(from, tell, System.nanoTime());
            case StatusBoard.Ask ask -> answer(from, ask);
          }
        });
  }

  private void answer(String to, StatusBoard.Ask ask) {
    long now = System.nanoTime();
    if (!board.mayAnswer(to, now)) {
      return;
    }
    Set<String> further = board.further(to, ask);
    byte[] question = StatusBoard.encode(new StatusBoard.Ask(Set.of()));
    further.forEach(dc -> notes.accept(dc, question));
    status()
        .thenAcceptAsync(
            json -> {
              tell(to, new StatusBoard.Tell(self, 0, json));
              board.known(further, System.nanoTime()).forEach(tell -> tell(to, tell));
            },
            executor);
  }

  private void tell(String to, StatusBoard.Tell tell) {
    notes.accept(to, StatusBoard.encode(tell));
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
