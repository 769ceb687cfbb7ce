package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A keyspace as a session sees it: where handles to objects come from. A key's type is fixed by its
 * first write; using it as another type fails with WRONG_TYPE. Cheap; thread-safe.
 */
public final class Keyspace {
  private final Session session;
  private final String name;

  Keyspace(Session session, String name) {
    this.session = session;
    this.name = name;
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /** A counter that goes up and down. */
  public CounterHandle counter(String key) {
    return new CounterHandle(object(key, CrdtType.PN_COUNTER));
  }

  /** A counter that only goes up. */
  public CounterHandle growOnlyCounter(String key) {
    return new CounterHandle(object(key, CrdtType.G_COUNTER));
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

  private Target object(String key, CrdtType type) {
    return new Target.OfObject(this, Key.of(key), type);
  }

  /**
   * Updates an object with any operation, for callers that choose the type at run time.
   *
   * @return completes when the update is done
   */
  public CompletableFuture<Void> updateAsync(Key key, CrdtType type, Operation operation) {
    return session.write(name, key, type, operation).thenApply(done -> null);
  }

  /** Waits for {@link #updateAsync}. */
  public void update(Key key, CrdtType type, Operation operation) {
    Calls.join(updateAsync(key, type, operation));
  }

  /**
   * What a key holds.
   *
   * @param type its type; empty if there is no such object and none was asked for
   * @param reading its value; that of a new object if there is none and a type was asked for
   * @param exists whether it is there and differs from a new object
   */
  public record Found(Optional<CrdtType> type, Optional<Reading> reading, boolean exists) {}

  /**
   * Reads an object with any query.
   *
   * @param type empty for whatever the key holds
   */
  public CompletableFuture<Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return session
        .read(name, key, type, query)
        .thenApply(a -> new Found(a.type(), a.reading(), a.exists()));
  }

  /** Waits for {@link #readAsync}. */
  public Found read(Key key, Optional<CrdtType> type, Query query) {
    return Calls.join(readAsync(key, type, query));
  }

  /** Whether the key holds anything. */
  public boolean exists(String key) {
    return read(Key.of(key), Optional.empty(), new Query.Whole()).exists();
  }

  /**
   * A page of a scan.
   *
   * @param next where to go on; empty at the end
   */
  public record Page(List<Row> rows, Optional<Key> next) {}

  /** One object of a page. */
  public record Row(Key key, CrdtType type, Reading value) {}

  /**
   * Reads objects in the order of their keys. What is written meanwhile may or may not be seen.
   *
   * @param from the first key; empty for the beginning
   * @param type only objects of this type; empty for all
   * @param limit at most so many rows, 1 to 10,000; a page may end earlier
   */
  public CompletableFuture<Page> scanAsync(
      Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
    return session.scan(new Request.Scan(name, from, type, query, limit)).thenApply(Keyspace::page);
  }

  private static Page page(Reply.Page page) {
    return new Page(
        page.rows().stream().map(r -> new Row(r.key(), r.type(), r.reading())).toList(),
        page.next());
  }

  /**
   * Waits for {@link #scanAsync}.
   *
   * @throws OsierException INVALID_ARGUMENT if the limit is out of range
   */
  public Page scan(Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
    return Calls.join(scanAsync(from, type, query, limit));
  }
}
