package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.PagePublisher;
import io.osier.proxy.future.PageStream;
import io.osier.proxy.objects.AgedAccess;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ExpiringAccess;
import io.osier.proxy.objects.ObjectAccess;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.objects.ScanPages;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Makes handles of objects and has the calls that concern whole keys: a keyspace, where each call
 * stands for itself, or a transaction.
 */
public abstract class ObjectSpace extends HandleSource {
  private final ObjectAccess access;

  ObjectSpace(ObjectAccess access) {
    this.access = access;
  }

  @Override
  ObjectRef target(String key, CrdtType type) {
    return new ObjectRef.OfObject(access, Key.of(key), type);
  }

  /**
   * Returns whether a key holds an object that a reader can tell from a new one. A cleared object,
   * a set or map without elements, a register that was never assigned and a flag that is off do not
   * exist; a counter that was updated since it was cleared exists, also at 0, and so does a bounded
   * counter that was created. The value is not sent. Needs the right to read.
   */
  public final boolean exists(String key) {
    return Calls.join(existsAsync(key));
  }

  /** As {@link #exists}. */
  public final CompletableFuture<Boolean> existsAsync(String key) {
    return inquire(key, new Query.Exists(), Keyspace.Found::exists);
  }

  /**
   * Returns the type of the object that a key holds; empty if none {@link #exists}. If two
   * datacenters concurrently created the key with two types, it is the first of the two in the
   * order of {@link CrdtType}. The value is not sent. Needs the right to read.
   */
  public final Optional<CrdtType> type(String key) {
    return Calls.join(typeAsync(key));
  }

  /** As {@link #type}. */
  public final CompletableFuture<Optional<CrdtType>> typeAsync(String key) {
    return inquire(key, new Query.Exists(), Keyspace.Found::type);
  }

  /**
   * Removes all that a key holds, of whatever type, as far as the datacenter sees it: concurrent
   * updates elsewhere stay. Nothing is left of the object once every datacenter has seen the
   * removal. Needs the right to write and, because of the answer, the right to read.
   *
   * @return whether the key {@link #exists existed}
   * @throws OsierException INVALID_ARGUMENT if the key holds a bounded counter
   */
  public final boolean delete(String key) {
    return Calls.join(deleteAsync(key));
  }

  /** As {@link #delete}. */
  public final CompletableFuture<Boolean> deleteAsync(String key) {
    return updateKey(key, Operation.Delete::new, new Query.Exists(), Keyspace.Found::exists);
  }

  /**
   * Lets a key expire after some time, by the datacenter's clock; replaces a former deadline. Of
   * concurrent deadlines given at several datacenters the latest counts. An expired key is hidden
   * at each datacenter as soon as its own clock has passed the deadline, and is removed later. An
   * update of an expired key begins with a new object, which has no deadline; so does an update of
   * a key that was emptied by {@code clear} or by removing its last element. Needs the rights that
   * {@link #delete} needs.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the key expires at once
   * @return whether the key {@link #exists}; if not, nothing was done
   * @throws OsierException INVALID_ARGUMENT if the time ends after the year 9999, or the key holds
   *     a bounded counter; VERSION_MISMATCH while a datacenter runs a version that knows no time to
   *     live
   */
  public final boolean expireAfter(String key, Duration timeToLive) {
    return Calls.join(expireAfterAsync(key, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public final CompletableFuture<Boolean> expireAfterAsync(String key, Duration timeToLive) {
    return updateKey(
        key, () -> Deadlines.after(timeToLive), new Query.Exists(), Keyspace.Found::exists);
  }

  /** As {@link #expireAfter}, at a point in time; if it has passed the key expires at once. */
  public final boolean expireAt(String key, Instant deadline) {
    return Calls.join(expireAtAsync(key, deadline));
  }

  /** As {@link #expireAt}. */
  public final CompletableFuture<Boolean> expireAtAsync(String key, Instant deadline) {
    return updateKey(key, () -> Deadlines.at(deadline), new Query.Exists(), Keyspace.Found::exists);
  }

  /**
   * Returns the same space, whose updates also give their object this time to live, counted from
   * the update; it replaces a former deadline. Update and deadline are one operation, so nobody
   * sees one without the other. For sessions, presence and rate limits:
   *
   * <pre>{@code
   * ObjectSpace sessions = shop.expiring(Duration.ofMinutes(30));
   * sessions.register("session:7").assign("basket");    // and again with each request
   * long requests = shop.expiring(Duration.ofMinutes(1)).counter("rate:ada").incrementAndGet(1);
   * }</pre>
   *
   * <p>An object that its update leaves empty gets no deadline, and bounded counters can have none.
   * Reads, scans and the calls that concern a whole key work as in the original space.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the object expires at once
   * @throws OsierException INVALID_ARGUMENT if the time ends after the year 9999
   */
  public final ObjectSpace expiring(Duration timeToLive) {
    return new ObjectSpace(new ExpiringAccess(access, Deadlines.after(timeToLive))) {};
  }

  /**
   * Reads, and returns the greatest age of the values that were read. If the keyspace allows it
   * ({@link KeyspaceOptions#staleReads}), a copy that may be out of date answers reads of one
   * object while none of the keyspace's holders can be reached, unless the session has seen
   * something newer. All reads may return such values; only this method tells their age:
   *
   * <pre>{@code
   * Aged<Long> likes = shop.aged(space -> space.counter("likes:42").get());
   * String shown = likes.value() + likes.age().map(age -> ", " + age.toSeconds() + " s ago").orElse("");
   * }</pre>
   *
   * @param reads is called at once, in this thread; it is given a space with the same objects, and
   *     must read from that one and wait for its reads
   */
  public final <T> Aged<T> aged(Function<ObjectSpace, T> reads) {
    AgedAccess noting = new AgedAccess(access);
    T value = Present.present(reads, "what reads").apply(new ObjectSpace(noting) {});
    return new Aged<>(value, noting.age());
  }

  /**
   * As {@link #aged}, without waiting for the reads.
   *
   * @param reads is called at once, in this thread; its future completes when all reads are
   *     answered
   */
  public final <T> CompletableFuture<Aged<T>> agedAsync(
      Function<ObjectSpace, CompletableFuture<T>> reads) {
    AgedAccess noting = new AgedAccess(access);
    return Calls.attempt(
        () ->
            Present.present(reads, "what reads")
                .apply(new ObjectSpace(noting) {})
                .thenApply(value -> new Aged<>(value, noting.age())));
  }

  /**
   * Removes a key's deadline. This wins against deadlines that are given concurrently elsewhere.
   * Needs the rights that {@link #delete} needs.
   *
   * @return whether the key had a deadline; if not, nothing was done
   */
  public final boolean persist(String key) {
    return Calls.join(persistAsync(key));
  }

  /** As {@link #persist}. */
  public final CompletableFuture<Boolean> persistAsync(String key) {
    return updateKey(
        key,
        Operation.Persist::new,
        new Query.TimeToLive(),
        found -> timeToLive(found).isPresent());
  }

  /**
   * Returns how long a key lives on, by the datacenter's clock; empty if it has no deadline, or
   * does not {@link #exists exist}. The value is not sent. Needs the right to read.
   */
  public final Optional<Duration> timeToLive(String key) {
    return Calls.join(timeToLiveAsync(key));
  }

  /** As {@link #timeToLive}. */
  public final CompletableFuture<Optional<Duration>> timeToLiveAsync(String key) {
    return inquire(key, new Query.TimeToLive(), ObjectSpace::timeToLive);
  }

  private static Optional<Duration> timeToLive(Keyspace.Found found) {
    return found
        .reading()
        .map(r -> ((Reading.Count) r).value())
        .filter(millis -> millis >= 0)
        .map(Duration::ofMillis);
  }

  private <T> CompletableFuture<T> updateKey(
      String key, Supplier<Operation> operation, Query query, Function<Keyspace.Found, T> result) {
    return Calls.attempt( // the key or the time may be invalid
        () ->
            access
                .updateKey(Key.of(key), operation.get(), new Request.Ask(true, query))
                .thenApply(result));
  }

  /**
   * Returns a stream of objects in the order of their keys, read page by page on demand. In a
   * keyspace a scan may or may not show updates that are done meanwhile, and continues at another
   * datacenter if the first is lost; the session guarantees do not cover it. In a transaction it
   * shows the snapshot and the transaction's own updates; after the transaction's end it fails with
   * TRANSACTION_ENDED.
   *
   * <p>The user needs the right to read the whole range. The stream is sequential; the thread that
   * asks for a row waits for the row's page, and gets an {@link OsierException} if it cannot be
   * read. Closing the stream ends it early but is not necessary.
   */
  public final Stream<Keyspace.Row> scan(Scan scan) {
    return PageStream.of(pages(scan));
  }

  /**
   * As {@link #scan}, for subscribers that request as many rows as they want. Each subscriber has
   * its own scan and holds one page of it. Signals are sent by the client's threads, or by the
   * thread that requests rows, so a subscriber must not wait.
   */
  public final Flow.Publisher<Keyspace.Row> publish(Scan scan) {
    Present.present(scan, "a scan");
    return new PagePublisher<>(() -> pages(scan));
  }

  private ScanPages pages(Scan scan) {
    return new ScanPages(Present.present(scan, "a scan").range(), access.pages());
  }

  /** Reads one page of a scan; {@link Scan#from(Key)} of {@link Keyspace.Page#next} is the rest. */
  public final Keyspace.Page page(Scan scan) {
    return Calls.join(pageAsync(scan));
  }

  /** As {@link #page}. */
  public final CompletableFuture<Keyspace.Page> pageAsync(Scan scan) {
    return scan == null
        ? CompletableFuture.failedFuture(missing())
        : new ScanPages(scan.range(), access::page).next();
  }

  /**
   * Counts the objects that a scan would show. The datacenter goes through them page by page, but
   * sends neither keys nor values.
   */
  public final long count(Scan scan) {
    return Calls.join(countAsync(scan));
  }

  /** As {@link #count}. */
  public final CompletableFuture<Long> countAsync(Scan scan) {
    return scan == null ? CompletableFuture.failedFuture(missing()) : access.count(scan.range());
  }

  private static OsierException missing() {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, "a scan must be given, not null");
  }

  private <T> CompletableFuture<T> inquire(
      String key, Query query, Function<Keyspace.Found, T> result) {
    return Calls.attempt(() -> access.read(Key.of(key), Optional.empty(), query, result));
  }

  /** A counter that never leaves its bounds. */
  public BoundedCounterHandle boundedCounter(String key) {
    return new BoundedCounterHandle(target(key, CrdtType.BOUNDED_COUNTER));
  }

  /** A set in which the last change of an element wins, and at equal times adding wins. */
  public SetHandle lastWriterWinsSet(String key) {
    return new SetHandle(target(key, CrdtType.LWW_SET_ADD_BIAS));
  }

  /** A set in which the last change of an element wins, and at equal times removing wins. */
  public SetHandle lastWriterWinsSetRemoveBias(String key) {
    return new SetHandle(target(key, CrdtType.LWW_SET_REMOVE_BIAS));
  }
}
