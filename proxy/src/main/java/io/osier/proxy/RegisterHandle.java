package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A register with one value. Cheap; thread-safe. */
public final class RegisterHandle {
  private final Target target;

  RegisterHandle(Target target) {
    this.target = target;
  }

  /** Assigns a value. */
  public void assign(Value value) {
    Calls.join(assignAsync(value));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(Value value) {
    return target.update(new Operation.Assign(value));
  }

  /** Assigns a string. */
  public void assign(String value) {
    assign(Value.of(value));
  }

  /** Assigns a long. */
  public void assign(long value) {
    assign(Value.of(value));
  }

  /**
   * Assigns a value, and tells which one it replaced, as this session's datacenter saw it; empty if
   * none was assigned.
   */
  public Optional<Value> getAndAssign(Value value) {
    return Calls.join(getAndAssignAsync(value));
  }

  /** As {@link #getAndAssign(Value)}. */
  public CompletableFuture<Optional<Value>> getAndAssignAsync(Value value) {
    return target.update(
        new Operation.Assign(value),
        new Request.Ask(true, new Query.Whole()),
        r -> ((Reading.Single) r).value());
  }

  /** As {@link #getAndAssign(Value)}, of a string. */
  public Optional<Value> getAndAssign(String value) {
    return getAndAssign(Value.of(value));
  }

  /** As {@link #getAndAssign(Value)}, of a long. */
  public Optional<Value> getAndAssign(long value) {
    return getAndAssign(Value.of(value));
  }

  /** The value; empty if none was assigned. */
  public Optional<Value> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Optional<Value>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Single) r).value());
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
