package io.osier.proxy;

import io.osier.core.Present;
import io.osier.core.Value;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A set of objects of one class: an element is found by its value, so equal objects must have equal
 * values, and an object that does not equal what is decoded of its value is refused. Sets that are
 * returned are unmodifiable. Errors as of {@link SetHandle}; besides, INVALID_ARGUMENT for an
 * element that cannot be encoded or found again, and MALFORMED for one that cannot be decoded.
 * Cheap; thread-safe.
 */
public final class TypedSet<E> {
  private final SetHandle set;
  private final Encoding<E> encoding;

  TypedSet(SetHandle set, Encoding<E> encoding) {
    this.set = set;
    this.encoding = encoding;
  }

  /** As {@link SetHandle#expiring}. */
  public TypedSet<E> expiring(Duration timeToLive) {
    return new TypedSet<>(set.expiring(timeToLive), encoding);
  }

  /** As {@link SetHandle#expireAfter}. */
  public void expireAfter(Collection<? extends E> elements, Duration timeToLive) {
    Calls.join(expireAfterAsync(elements, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(
      Collection<? extends E> elements, Duration timeToLive) {
    return Encoding.call(
        () -> encoding.elements(elements), values -> set.expireAfterAsync(values, timeToLive));
  }

  /** As {@link SetHandle#expireAt}. */
  public void expireAt(Collection<? extends E> elements, Instant deadline) {
    Calls.join(expireAtAsync(elements, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(Collection<? extends E> elements, Instant deadline) {
    return Encoding.call(
        () -> encoding.elements(elements), values -> set.expireAtAsync(values, deadline));
  }

  /** As {@link SetHandle#persist}. */
  public void persist(Collection<? extends E> elements) {
    Calls.join(persistAsync(elements));
  }

  /** As {@link #persist}. */
  public CompletableFuture<Void> persistAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::persistAsync);
  }

  /** As {@link SetHandle#timeToLive}. */
  public Optional<Duration> timeToLive(E element) {
    return Calls.join(timeToLiveAsync(element));
  }

  /** As {@link #timeToLive}. */
  public CompletableFuture<Optional<Duration>> timeToLiveAsync(E element) {
    return Encoding.call(
        () -> encoding.elements(Arrays.asList(element)).getFirst(), set::timeToLiveAsync);
  }

  /** Adds elements. */
  @SafeVarargs
  @SuppressWarnings("varargs") // the array is only read
  public final void add(E... elements) {
    addAll(Arrays.asList(elements));
  }

  /** Adds elements. */
  public void addAll(Collection<? extends E> elements) {
    Calls.join(addAllAsync(elements));
  }

  /** As {@link #addAll}. */
  public CompletableFuture<Void> addAllAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::addAsync);
  }

  /** Removes elements, as far as they are seen; not from a grow-only set. */
  @SafeVarargs
  @SuppressWarnings("varargs") // the array is only read
  public final void remove(E... elements) {
    removeAll(Arrays.asList(elements));
  }

  /** As {@link #remove}. */
  public void removeAll(Collection<? extends E> elements) {
    Calls.join(removeAllAsync(elements));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAllAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::removeAsync);
  }

  /**
   * Adds elements, and tells which of them were not in the set, as this session's datacenter saw
   * it, in their order.
   */
  public Set<E> addNew(Collection<? extends E> elements) {
    return Calls.join(addNewAsync(elements));
  }

  /** As {@link #addNew}. */
  public CompletableFuture<Set<E>> addNewAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::addNewAsync)
        .thenApply(encoding::set);
  }

  /**
   * Removes elements, and tells which of them were in the set, as this session's datacenter saw it,
   * in their order.
   */
  public Set<E> removePresent(Collection<? extends E> elements) {
    return Calls.join(removePresentAsync(elements));
  }

  /** As {@link #removePresent}. */
  public CompletableFuture<Set<E>> removePresentAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::removePresentAsync)
        .thenApply(encoding::set);
  }

  /** Which of some elements are in the set, in their order. */
  public Set<E> among(Collection<? extends E> elements) {
    return Calls.join(amongAsync(elements));
  }

  /** As {@link #among}. */
  public CompletableFuture<Set<E>> amongAsync(Collection<? extends E> elements) {
    return Encoding.call(() -> encoding.elements(elements), set::amongAsync)
        .thenApply(encoding::set);
  }

  /** The elements, in the order of their values. */
  public Set<E> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Set<E>> getAsync() {
    return set.getAsync().thenApply(encoding::set);
  }

  /** As {@link SetHandle#get(Range)}: in the order of the elements' values. */
  public List<E> get(Range<E> range) {
    return Calls.join(getAsync(range));
  }

  /** As {@link #get(Range)}. */
  public CompletableFuture<List<E>> getAsync(Range<E> range) {
    return Calls.attempt(() -> set.getAsync(values(range))).thenApply(encoding::list);
  }

  /** As {@link SetHandle#first}. */
  public Optional<E> first() {
    return Calls.join(firstAsync());
  }

  /** As {@link #first}. */
  public CompletableFuture<Optional<E>> firstAsync() {
    return set.firstAsync().thenApply(first -> first.map(encoding::object));
  }

  /** As {@link SetHandle#last}. */
  public Optional<E> last() {
    return Calls.join(lastAsync());
  }

  /** As {@link #last}. */
  public CompletableFuture<Optional<E>> lastAsync() {
    return set.lastAsync().thenApply(last -> last.map(encoding::object));
  }

  /** As {@link SetHandle#stream}. */
  public Stream<E> stream(Range<E> range) {
    return set.stream(values(range)).map(encoding::object);
  }

  private Range<Value> values(Range<E> range) {
    return Present.present(range, "a range").map(end -> encoding.elements(List.of(end)).getFirst());
  }

  /** Whether an element is in the set, without fetching the set. */
  public boolean contains(E element) {
    return Calls.join(containsAsync(element));
  }

  /** As {@link #contains}. */
  public CompletableFuture<Boolean> containsAsync(E element) {
    return Encoding.call(
        () -> encoding.elements(Arrays.asList(element)).getFirst(), set::containsAsync);
  }

  /** How many elements there are, without fetching them. */
  public long size() {
    return set.size();
  }

  /** As {@link #size}. */
  public CompletableFuture<Long> sizeAsync() {
    return set.sizeAsync();
  }

  /** As {@link SetHandle#clear}. */
  public void clear() {
    set.clear();
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return set.clearAsync();
  }
}
