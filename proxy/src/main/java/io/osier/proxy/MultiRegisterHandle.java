package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.values.ValueCodec;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A register that keeps the values of concurrent assignments. Cheap; thread-safe. */
public final class MultiRegisterHandle {
  private final Target target;

  MultiRegisterHandle(Target target) {
    this.target = target;
  }

  /**
   * The same register, of objects of a class, as the client keeps them ({@link
   * OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <T> TypedMultiRegister<T> as(Class<T> type) {
    return as(target.values().codec(type));
  }

  /** The same register, of objects that a codec makes. */
  public <T> TypedMultiRegister<T> as(ValueCodec<T> codec) {
    return new TypedMultiRegister<>(this, new Encoding<>(codec));
  }

  /** Assigns a value, which replaces those that were seen. */
  public void assign(Value value) {
    Calls.join(assignAsync(value));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(Value value) {
    return target.update(new Operation.Assign(value));
  }

  /** Assigns a value, and tells which ones it replaced, as this session's datacenter saw them. */
  public List<Value> getAndAssign(Value value) {
    return Calls.join(getAndAssignAsync(value));
  }

  /** As {@link #getAndAssign}. */
  public CompletableFuture<List<Value>> getAndAssignAsync(Value value) {
    return target.update(
        new Operation.Assign(value),
        new Request.Ask(true, new Query.Whole()),
        r -> ((Reading.Many) r).values());
  }

  /** The values of concurrent assignments; none if none was assigned. */
  public List<Value> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<List<Value>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Many) r).values());
  }

  /**
   * Resets it to a new one, as far as this session's datacenter has seen it: what is concurrent
   * stays.
   */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
