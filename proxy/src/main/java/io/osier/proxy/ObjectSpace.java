package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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
