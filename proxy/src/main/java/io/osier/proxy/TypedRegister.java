package io.osier.proxy;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A register of objects of one class. Errors as of {@link RegisterHandle}; besides,
 * INVALID_ARGUMENT for an object that its codec cannot encode, and MALFORMED for a value that it
 * cannot decode. Cheap; thread-safe.
 */
public final class TypedRegister<T> {
  private final RegisterHandle register;
  private final Encoding<T> encoding;

  TypedRegister(RegisterHandle register, Encoding<T> encoding) {
    this.register = register;
    this.encoding = encoding;
  }

  /** Assigns an object. */
  public void assign(T object) {
    Calls.join(assignAsync(object));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(T object) {
    return Encoding.call(() -> encoding.value(object), register::assignAsync);
  }

  /**
   * Assigns an object, and tells which one it replaced, as this session's datacenter saw it; empty
   * if none was assigned. If that one cannot be decoded the call fails, and the object is assigned.
   */
  public Optional<T> getAndAssign(T object) {
    return Calls.join(getAndAssignAsync(object));
  }

  /** As {@link #getAndAssign}. */
  public CompletableFuture<Optional<T>> getAndAssignAsync(T object) {
    return Encoding.call(() -> encoding.value(object), register::getAndAssignAsync)
        .thenApply(before -> before.map(encoding::object));
  }

  /** As {@link RegisterHandle#assignIf}: an object is expected if its value is there. */
  public boolean assignIf(T expected, T object) {
    return Calls.join(assignIfAsync(expected, object));
  }

  /** As {@link #assignIf}. */
  public CompletableFuture<Boolean> assignIfAsync(T expected, T object) {
    return Encoding.call(
        () -> encoding.elements(Arrays.asList(expected, object)),
        values -> register.assignIfAsync(values.getFirst(), values.getLast()));
  }

  /** As {@link RegisterHandle#assignIfAbsent}. */
  public boolean assignIfAbsent(T object) {
    return Calls.join(assignIfAbsentAsync(object));
  }

  /** As {@link #assignIfAbsent}. */
  public CompletableFuture<Boolean> assignIfAbsentAsync(T object) {
    return Encoding.call(() -> encoding.value(object), register::assignIfAbsentAsync);
  }

  /** The object; empty if none was assigned. */
  public Optional<T> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Optional<T>> getAsync() {
    return register.getAsync().thenApply(value -> value.map(encoding::object));
  }

  /** As {@link RegisterHandle#clear}. */
  public void clear() {
    register.clear();
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return register.clearAsync();
  }
}
