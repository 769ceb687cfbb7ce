package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.watch.WatchSubscription;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * Publishes the changes of a key, of the keys with a prefix, or of a whole keyspace, as they become
 * visible at the session's datacenter. Immutable; each subscriber has its own watcher.
 *
 * <p>A watcher's first signal has no changes; from then on it misses none. It asks the datacenter
 * for changes when its subscriber requests some. Until then the datacenter keeps them, for all
 * watchers together, in the memory of {@code osier.memory.changes}; a watcher that falls behind by
 * more ends with WATCHER_TOO_SLOW. A new watcher can go on from its last position, and is told of
 * everything that changed since. Signals contain a key's new value only {@link #withValues()};
 * otherwise the subscriber reads it. When a single key is watched, changes in quick succession are
 * told as one.
 *
 * <p>If the datacenter is lost the watcher goes on by itself, there or at another one: it misses
 * nothing, and may be told of some changes twice. It ends with HISTORY_TOO_SHORT if the datacenter
 * has forgotten objects that were removed since the watcher's position, with SESSION_LOST if
 * changes that it was told of are lost, and with FORBIDDEN when the user loses the right to read.
 * The session counts the changes that its watchers were told of as seen.
 *
 * <pre>{@code
 * Keyspace shop = client.session().keyspace("shop");
 * Watch.Watching watching =
 *     shop.watchPrefix("cart:").listen(signal -> signal.changes().forEach(c -> print(c.key())));
 * }</pre>
 */
public final class Watch implements Flow.Publisher<Changes> {
  private static final long VALUE_BYTES_MAX = 4 << 20;

  private final SessionCore session;
  private final String keyspace;
  private final Optional<Key> key;
  private final boolean prefix;
  private final List<WatchRequest.Place> from;
  private final boolean resumes;
  private final Executor executor;
  private final long valueBytesMax;

  private Watch(
      SessionCore session,
      String keyspace,
      Optional<Key> key,
      boolean prefix,
      List<WatchRequest.Place> from,
      boolean resumes,
      Executor executor,
      long valueBytesMax) {
    this.session = session;
    this.keyspace = keyspace;
    this.key = key;
    this.prefix = prefix;
    this.from = from;
    this.resumes = resumes;
    this.executor = executor;
    this.valueBytesMax = valueBytesMax;
  }

  static Watch of(SessionCore session, String keyspace, Optional<Key> key, boolean prefix) {
    return new Watch(
        session, keyspace, key, prefix, List.of(), false, Thread::startVirtualThread, 0);
  }

  /**
   * Returns this watch beginning at the position of an earlier watcher of the same keys, which may
   * have been closed or cut off meanwhile.
   */
  public Watch from(WatchPosition position) {
    List<WatchRequest.Place> places = present(position, "a position").places();
    return new Watch(session, keyspace, key, prefix, places, true, executor, valueBytesMax);
  }

  /**
   * Returns this watch beginning with all existing objects, followed by every change, without a
   * gap.
   */
  public Watch fromTheBeginning() {
    return new Watch(session, keyspace, key, prefix, List.of(), true, executor, valueBytesMax);
  }

  /**
   * Returns this watch with its signals sent by an executor, one after another, instead of by
   * virtual threads. If the executor refuses a signal, as after its shutdown, the watcher ends with
   * its RejectedExecutionException, signalled by the thread that called the executor.
   */
  public Watch on(Executor by) {
    return new Watch(
        session, keyspace, key, prefix, from, resumes, present(by, "an executor"), valueBytesMax);
  }

  /**
   * Returns this watch with the key's value in each change ({@link Changes.Change#found}), as it is
   * at this change or a later one. The client reads the values after the changes have arrived, 32
   * keys in a request, so signals come about one round trip later. Within one signal it stops
   * reading values after 4 MiB, or after a request for 32 keys of which none can be read; the other
   * changes of the signal then have no value.
   *
   * <pre>{@code
   * shop.watchPrefix("stock:").withValues().listen(signal -> signal.changes().forEach(change ->
   *     show(change.key(), change.found().flatMap(Keyspace.Found::reading))));
   * }</pre>
   */
  public Watch withValues() {
    return withValues(VALUE_BYTES_MAX);
  }

  /**
   * As {@link #withValues()}, with another limit.
   *
   * @param bytesMax the bytes of values after which no more are read within one signal; above 0
   * @throws io.osier.core.InvalidRequestException if the limit is not above 0
   */
  public Watch withValues(long bytesMax) {
    if (bytesMax <= 0) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "the values' bytes must be above 0, not " + bytesMax);
    }
    return new Watch(session, keyspace, key, prefix, from, resumes, executor, bytesMax);
  }

  @Override
  public void subscribe(Flow.Subscriber<? super Changes> subscriber) {
    WatchRequest first = new WatchRequest(keyspace, key, prefix, from, resumes, 0);
    new WatchSubscription<>(session, first, executor, valueBytesMax, Changes::of, subscriber)
        .begin();
  }

  /**
   * Starts a watcher that calls a callback with all changes, until it is closed or cannot go on. A
   * callback that throws ends its watcher, with that error; a slow callback only delays its own
   * changes.
   */
  public Watching listen(Consumer<? super Changes> callback) {
    Optional<WatchPosition> begins =
        from.isEmpty() ? Optional.empty() : Optional.of(new WatchPosition(from));
    Listening listening = new Listening(present(callback, "a callback"), begins);
    subscribe(listening);
    return listening;
  }

  /** A running watcher with a callback. Thread-safe. */
  public interface Watching extends AutoCloseable {
    /** Completes with the watcher's first signal; from then on it misses nothing. */
    CompletableFuture<Void> begun();

    /**
     * Completes when the watcher has ended: normally if it was closed, otherwise with the error.
     */
    CompletableFuture<Void> ended();

    /**
     * Returns the position after the last changes that the callback has taken. Before the first
     * signal it is the position at which the watcher began; empty if there was none.
     */
    Optional<WatchPosition> position();

    /** Ends the watcher; the callback is not called again, but a call may still be running. */
    @Override
    void close();
  }

  private static final class Listening implements Watching, Flow.Subscriber<Changes> {
    private final Consumer<? super Changes> callback;
    private final CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
    private final CallFuture<Void> begun = new CallFuture<>(why -> {});
    private final CallFuture<Void> ended = new CallFuture<>(why -> {});
    private volatile Optional<WatchPosition> position;

    Listening(Consumer<? super Changes> callback, Optional<WatchPosition> begins) {
      this.callback = callback;
      this.position = begins;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscribed.complete(subscription);
      subscription.request(2); // one signal is fetched while the callback handles the other
    }

    @Override
    public void onNext(Changes told) {
      if (ended.isDone()) {
        return;
      }
      try {
        callback.accept(told);
      } catch (RuntimeException | Error e) {
        end(e);
        return;
      }
      position = Optional.of(told.position());
      begun.succeed(null);
      subscribed.join().request(1);
    }

    private void end(Throwable error) {
      subscribed.thenAccept(Flow.Subscription::cancel);
      ended.fail(error);
      begun.fail(error);
    }

    @Override
    public void onError(Throwable error) {
      end(error);
    }

    @Override
    public void onComplete() {
      close();
    }

    @Override
    public CompletableFuture<Void> begun() {
      return begun;
    }

    @Override
    public CompletableFuture<Void> ended() {
      return ended;
    }

    @Override
    public Optional<WatchPosition> position() {
      return position;
    }

    @Override
    public void close() {
      subscribed.thenAccept(Flow.Subscription::cancel);
      ended.succeed(null);
      begun.cancel(false);
    }
  }
}
