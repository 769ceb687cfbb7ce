package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.values.ValueCodec;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A set. Cheap; thread-safe. */
public final class SetHandle {
  private final Target target;

  SetHandle(Target target) {
    this.target = target;
  }

  /**
   * The same set, of objects of a class, as the client keeps them ({@link
   * OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <E> TypedSet<E> as(Class<E> type) {
    return as(target.values().codec(type));
  }

  /** The same set, of objects that a codec makes. */
  public <E> TypedSet<E> as(ValueCodec<E> codec) {
    return new TypedSet<>(this, new Encoding<>(codec));
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

  /**
   * Adds elements, and tells which of them were not in the set, as this session's datacenter saw
   * it, each once, in their order.
   */
  public List<Value> addNew(List<Value> elements) {
    return Calls.join(addNewAsync(elements));
  }

  /** As {@link #addNew(List)}. */
  public CompletableFuture<List<Value>> addNewAsync(List<Value> elements) {
    Query.Among among = new Query.Among(elements);
    return target.update(
        new Operation.Add(elements),
        new Request.Ask(true, among),
        r -> among.absent(((Reading.Many) r).values()));
  }

  /** As {@link #addNew(List)}, of strings. */
  public List<Value> addNew(String... elements) {
    return addNew(values(elements));
  }

  /**
   * Removes elements, and tells which of them were in the set, as this session's datacenter saw it,
   * each once, in their order.
   */
  public List<Value> removePresent(List<Value> elements) {
    return Calls.join(removePresentAsync(elements));
  }

  /** As {@link #removePresent(List)}. */
  public CompletableFuture<List<Value>> removePresentAsync(List<Value> elements) {
    return target.update(
        new Operation.Remove(elements),
        new Request.Ask(true, new Query.Among(elements)),
        r -> ((Reading.Many) r).values());
  }

  /** As {@link #removePresent(List)}, of strings. */
  public List<Value> removePresent(String... elements) {
    return removePresent(values(elements));
  }

  /** Which of some elements are in the set, each once, in their order. */
  public List<Value> among(List<Value> elements) {
    return Calls.join(amongAsync(elements));
  }

  /** As {@link #among}. */
  public CompletableFuture<List<Value>> amongAsync(List<Value> elements) {
    return target.read(new Query.Among(elements), r -> ((Reading.Many) r).values());
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
