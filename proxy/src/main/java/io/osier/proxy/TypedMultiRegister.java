package io.osier.proxy;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A register of objects of one class that keeps those of concurrent assignments. Errors as of
 * {@link TypedRegister}. Cheap; thread-safe.
 */
public final class TypedMultiRegister<T> {
  private final MultiRegisterHandle register;
  private final Encoding<T> encoding;

  TypedMultiRegister(MultiRegisterHandle register, Encoding<T> encoding) {
    this.register = register;
    this.encoding = encoding;
  }

  /** Assigns an object, which replaces those that were seen. */
  public void assign(T object) {
    Calls.join(assignAsync(object));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(T object) {
    return Encoding.call(() -> encoding.value(object), register::assignAsync);
  }

  /** Assigns an object, and tells which ones it replaced, as this session's datacenter saw them. */
  public List<T> getAndAssign(T object) {
    return Calls.join(getAndAssignAsync(object));
  }

  /** As {@link #getAndAssign}. */
  public CompletableFuture<List<T>> getAndAssignAsync(T object) {
    return Encoding.call(() -> encoding.value(object), register::getAndAssignAsync)
        .thenApply(encoding::list);
  }

  /** The objects of concurrent assignments; none if none was assigned. */
  public List<T> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<List<T>> getAsync() {
    return register.getAsync().thenApply(encoding::list);
  }

  /** As {@link MultiRegisterHandle#clear}. */
  public void clear() {
    register.clear();
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return register.clearAsync();
  }
}
