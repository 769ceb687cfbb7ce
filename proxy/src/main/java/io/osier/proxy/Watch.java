package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
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
 * Changes of a key, of the keys with a prefix, or of a whole keyspace, as they become visible at
 * the datacenter that the session uses. Immutable; each subscriber is a watcher of its own.
 *
 * <p>A watcher is first told of no changes: from then on it misses none. It asks for changes when
 * its subscriber wants some; what it does not take in time is kept at the datacenter for all
 * watchers together, in {@code osier.memory.changes}. Who is behind by more than that is cut off
 * with WATCHER_TOO_SLOW, and may go on from its last position, where it is told of everything that
 * was changed since. The present value of a key is to be read, or comes along ({@link
 * #withValues()}); of a key that is watched by itself one change is told for several that follow
 * one another quickly.
 *
 * <p>If the datacenter is lost it goes on by itself, there or elsewhere: it misses nothing, and may
 * be told of some changes twice. It ends with HISTORY_TOO_SHORT where objects that were removed
 * since its position have been forgotten, with SESSION_LOST where what it was told of was lost, and
 * with FORBIDDEN when the right to read is taken away. What a watcher was told of its session has
 * seen.
 *
 * <pre>{@code
 * Keyspace shop = client.session().keyspace("shop");
 * Watch.Watching watching =
 *     shop.watchPrefix("cart:").listen(told -> told.changes().forEach(c -> print(c.key())));
 * }</pre>
 */
public final class Watch implements Flow.Publisher<Changes> {
  private static final long VALUE_BYTES_MAX = 4 << 20;

  private final SessionCore session;
  private final String keyspace;
  private final Optional<Key> key;
  private final boolean prefix;
  private final List<Request.Place> from;
  private final boolean resumes;
  private final Executor executor;
  private final long valueBytesMax;

  private Watch(
      SessionCore session,
      String keyspace,
      Optional<Key> key,
      boolean prefix,
      List<Request.Place> from,
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
   * From a position on, of a watcher of the same keys: also of what has changed since it was cut
   * off, or closed.
   */
  public Watch from(WatchPosition position) {
    List<Request.Place> places = present(position, "a position").places();
    return new Watch(session, keyspace, key, prefix, places, true, executor, valueBytesMax);
  }

  /** First everything that there is, and then every change, without a gap. */
  public Watch fromTheBeginning() {
    return new Watch(session, keyspace, key, prefix, List.of(), true, executor, valueBytesMax);
  }

  /**
   * Signals come by this executor, one after another; by a virtual thread where none is given.
   * Where it refuses one, as when it is shut down, the watcher ends with its
   * RejectedExecutionException, told by the thread that found out.
   */
  public Watch on(Executor by) {
    return new Watch(
        session, keyspace, key, prefix, from, resumes, present(by, "an executor"), valueBytesMax);
  }

  /**
   * With each change comes what its key holds ({@link Changes.Change#found}): at this change, or at
   * a later one. It is read by a request of its own, of 32 keys at a time, after the changes came,
   * so changes come later by about one way there and back. Of what comes at once, no more values
   * are read after 4 MiB, or after 32 of which none can be read; the changes that follow come
   * without.
   *
   * <pre>{@code
   * shop.watchPrefix("stock:").withValues().listen(told -> told.changes().forEach(change ->
   *     show(change.key(), change.found().flatMap(Keyspace.Found::reading))));
   * }</pre>
   */
  public Watch withValues() {
    return withValues(VALUE_BYTES_MAX);
  }

  /**
   * As {@link #withValues()}, with another limit.
   *
   * @param bytesMax of what comes at once, after so many bytes no more values are read: above 0
   * @throws io.osier.core.InvalidRequestException if it is not above 0
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
    Request.Watch first = new Request.Watch(keyspace, key, prefix, from, resumes, 0);
    new WatchSubscription<>(session, first, executor, valueBytesMax, Changes::of, subscriber)
        .begin();
  }

  /**
   * Calls somebody with the changes, until it is closed or cannot go on. A callback that throws
   * ends its own watcher, with that error; one that takes long delays its own changes.
   */
  public Watching listen(Consumer<? super Changes> callback) {
    Optional<WatchPosition> begins =
        from.isEmpty() ? Optional.empty() : Optional.of(new WatchPosition(from));
    Listening listening = new Listening(present(callback, "a callback"), begins);
    subscribe(listening);
    return listening;
  }

  /** A watcher that calls somebody. Thread-safe. */
  public interface Watching extends AutoCloseable {
    /** Completes when it was told the first time: from then on it misses nothing. */
    CompletableFuture<Void> begun();

    /** Completes when it has ended: normally if it was closed, otherwise with why. */
    CompletableFuture<Void> ended();

    /**
     * Behind what the callback has been told of. Before the first time the position that this began
     * at; empty if it began at none.
     */
    Optional<WatchPosition> position();

    /** Ends it; the callback is not called any more, but may be running. */
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
      subscription.request(2); // the next ones come while the callback is at these
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
