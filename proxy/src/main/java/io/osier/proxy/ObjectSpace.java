package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.CrdtType;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Where handles to objects come from: a keyspace, where each call is for itself, or a transaction.
 */
public abstract class ObjectSpace {
  ObjectSpace() {}

  abstract Target object(String key, CrdtType type);

  /** What a key holds, without its value. */
  abstract CompletableFuture<Keyspace.Found> findAsync(Key key);

  /**
   * Whether a key holds an object that a reader can tell from a new one. One that was cleared, a
   * set or map without elements, a register that was never assigned and a flag that is off do not
   * exist; a counter that was updated since it was cleared does, also at 0, and so does a bounded
   * counter that was created. The value is not sent. Needs the right to read.
   */
  public final boolean exists(String key) {
    return Calls.join(existsAsync(key));
  }

  /** As {@link #exists}. */
  public final CompletableFuture<Boolean> existsAsync(String key) {
    return findAsync(key, Keyspace.Found::exists);
  }

  /**
   * Of which type the object is that a key holds; empty if there is none that {@link #exists}.
   * Where two datacenters made the key with two types at the same time it is the first of them, in
   * the order of {@link CrdtType}. The value is not sent. Needs the right to read.
   */
  public final Optional<CrdtType> type(String key) {
    return Calls.join(typeAsync(key));
  }

  /** As {@link #type}. */
  public final CompletableFuture<Optional<CrdtType>> typeAsync(String key) {
    return findAsync(key, Keyspace.Found::type);
  }

  /** The first page of a scan. */
  abstract CompletableFuture<Keyspace.Page> firstPage(Scan scan);

  /** As the public one. */
  abstract CompletableFuture<Long> countAll(Scan scan);

  /**
   * Objects in the order of their keys, read page by page as they are wanted. In a keyspace what is
   * written meanwhile may or may not be seen, and a scan goes on at another datacenter where the
   * one before is lost; a session's guarantees do not cover it. In a transaction it shows the
   * transaction's snapshot and its own updates, for as long as the transaction is open
   * (TRANSACTION_ENDED then).
   *
   * <p>A user needs the right to read all of it. The stream is sequential, and a page is waited for
   * by the thread that wants a row; it fails with an {@link OsierException}. Closing it ends it
   * early; it holds nothing that must be closed.
   */
  public final Stream<Keyspace.Row> scan(Scan scan) {
    return ScanStream.of(pages(scan));
  }

  /**
   * As {@link #scan}, for subscribers that say how many rows they want. Each has a scan of its own,
   * and holds one page of it. Signals come by the client's threads, or by the one that asks for
   * rows: a subscriber must not wait.
   */
  public final Flow.Publisher<Keyspace.Row> publish(Scan scan) {
    Present.present(scan, "a scan");
    return new ScanPublisher(() -> pages(scan));
  }

  private ScanPages pages(Scan scan) {
    return new ScanPages(Present.present(scan, "a scan"), this::firstPage);
  }

  /** One page of a scan; {@link Scan#from(Key)} of {@link Keyspace.Page#next} is the rest. */
  public final Keyspace.Page page(Scan scan) {
    return Calls.join(pageAsync(scan));
  }

  /** As {@link #page}. */
  public final CompletableFuture<Keyspace.Page> pageAsync(Scan scan) {
    return scan == null
        ? CompletableFuture.failedFuture(missing())
        : new ScanPages(scan, this::firstPage).next();
  }

  /**
   * How many objects a scan would show. Neither they nor their values are sent; each is looked at,
   * by its datacenter, page by page.
   */
  public final long count(Scan scan) {
    return Calls.join(countAsync(scan));
  }

  /** As {@link #count}. */
  public final CompletableFuture<Long> countAsync(Scan scan) {
    return scan == null ? CompletableFuture.failedFuture(missing()) : countAll(scan);
  }

  private static OsierException missing() {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, "a scan must be given, not null");
  }

  private <T> CompletableFuture<T> findAsync(String key, Function<Keyspace.Found, T> result) {
    try {
      return findAsync(Key.of(key)).thenApply(result);
    } catch (OsierException e) { // it is no key
      return CompletableFuture.failedFuture(e);
    }
  }

  /** A counter that goes up and down. */
  public CounterHandle counter(String key) {
    return new CounterHandle(object(key, CrdtType.PN_COUNTER));
  }

  /** A counter that only goes up. */
  public CounterHandle growOnlyCounter(String key) {
    return new CounterHandle(object(key, CrdtType.G_COUNTER));
  }

  /** A counter that never leaves its bounds. */
  public BoundedCounterHandle boundedCounter(String key) {
    return new BoundedCounterHandle(object(key, CrdtType.BOUNDED_COUNTER));
  }

  /** A register in which the last assignment wins. */
  public RegisterHandle register(String key) {
    return new RegisterHandle(object(key, CrdtType.LWW_REGISTER));
  }

  /** A register that keeps the values of concurrent assignments. */
  public MultiRegisterHandle multiRegister(String key) {
    return new MultiRegisterHandle(object(key, CrdtType.MV_REGISTER));
  }

  /** A flag in which enabling wins. */
  public FlagHandle flag(String key) {
    return new FlagHandle(object(key, CrdtType.EW_FLAG));
  }

  /** A flag in which disabling wins. */
  public FlagHandle disableWinsFlag(String key) {
    return new FlagHandle(object(key, CrdtType.DW_FLAG));
  }

  /** A set in which adding wins. */
  public SetHandle set(String key) {
    return new SetHandle(object(key, CrdtType.AW_SET));
  }

  /** A set that only grows. */
  public SetHandle growOnlySet(String key) {
    return new SetHandle(object(key, CrdtType.G_SET));
  }

  /** A set in which removing wins. */
  public SetHandle removeWinsSet(String key) {
    return new SetHandle(object(key, CrdtType.RW_SET));
  }

  /** A set in which the last change of an element wins, and adding at equal times. */
  public SetHandle lastWriterWinsSet(String key) {
    return new SetHandle(object(key, CrdtType.LWW_SET_ADD_BIAS));
  }

  /** A set in which the last change of an element wins, and removing at equal times. */
  public SetHandle lastWriterWinsSetRemoveBias(String key) {
    return new SetHandle(object(key, CrdtType.LWW_SET_REMOVE_BIAS));
  }

  /** A map of named fields of any type. */
  public MapHandle map(String key) {
    return new MapHandle(object(key, CrdtType.OR_MAP));
  }
}
