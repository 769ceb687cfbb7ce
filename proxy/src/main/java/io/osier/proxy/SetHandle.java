package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A set. Cheap; thread-safe. */
public final class SetHandle {
  private final Target target;

  SetHandle(Target target) {
    this.target = target;
  }

  /** Adds elements. */
  public void add(List<Value> elements) {
    Calls.join(addAsync(elements));
  }

  /** As {@link #add}. */
  public CompletableFuture<Void> addAsync(List<Value> elements) {
    return target.update(new Operation.Add(elements));
  }

  /** Removes elements, as far as they are seen; not from a grow-only set. */
  public void remove(List<Value> elements) {
    Calls.join(removeAsync(elements));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<Value> elements) {
    return target.update(new Operation.Remove(elements));
  }

  /** Adds strings. */
  public void add(String... elements) {
    add(values(elements));
  }

  /** Removes strings. */
  public void remove(String... elements) {
    remove(values(elements));
  }

  private static List<Value> values(String... elements) {
    return Arrays.stream(elements).map(Value::of).toList();
  }

  /** The elements, in their order. */
  public List<Value> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<List<Value>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Many) r).values());
  }

  /** Whether the element is in the set, without fetching the set. */
  public boolean contains(Value element) {
    return Calls.join(containsAsync(element));
  }

  /** As {@link #contains}. */
  public CompletableFuture<Boolean> containsAsync(Value element) {
    return target.read(new Query.Contains(element), r -> ((Reading.Flag) r).value());
  }

  /** How many elements there are, without fetching them. */
  public long size() {
    return Calls.join(sizeAsync());
  }

  /** As {@link #size}. */
  public CompletableFuture<Long> sizeAsync() {
    return target.read(new Query.Size(), r -> ((Reading.Count) r).value());
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
