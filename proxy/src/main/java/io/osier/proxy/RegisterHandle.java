package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.values.ValueCodec;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A register with one value. Cheap; thread-safe. */
public final class RegisterHandle {
  private final Target target;

  RegisterHandle(Target target) {
    this.target = target;
  }

  /**
   * The same register, of objects of a class, as the client keeps them ({@link
   * OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <T> TypedRegister<T> as(Class<T> type) {
    return as(target.values().codec(type));
  }

  /** The same register, of objects that a codec makes. */
  public <T> TypedRegister<T> as(ValueCodec<T> codec) {
    return new TypedRegister<>(this, new Encoding<>(codec));
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

  /**
   * Assigns a value if the present one is as expected, as this session's datacenter sees it in the
   * moment of the assignment. Two datacenters may both do so at the same time; then one of the two
   * values wins, as of any two assignments. In a transaction it is the snapshot that counts.
   *
   * @return whether it was assigned
   */
  public boolean assignIf(Value expected, Value value) {
    return Calls.join(assignIfAsync(expected, value));
  }

  /** As {@link #assignIf}. */
  public CompletableFuture<Boolean> assignIfAsync(Value expected, Value value) {
    return assignIf(Optional.of(present(expected, "what is expected")), value);
  }

  /** As {@link #assignIf}, if none is assigned. */
  public boolean assignIfAbsent(Value value) {
    return Calls.join(assignIfAbsentAsync(value));
  }

  /** As {@link #assignIfAbsent}. */
  public CompletableFuture<Boolean> assignIfAbsentAsync(Value value) {
    return assignIf(Optional.empty(), value);
  }

  private CompletableFuture<Boolean> assignIf(Optional<Value> expected, Value value) {
    return target.updateIf(new Reading.Single(expected), new Operation.Assign(value));
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
