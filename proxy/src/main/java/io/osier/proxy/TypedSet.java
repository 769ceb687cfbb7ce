package io.osier.proxy;

import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ObjectRef;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A set of objects of one class. The datacenter finds an element by its encoded value, so equal
 * objects must have equal encodings, and an object is refused if it does not equal its own decoded
 * encoding. Returned sets are unmodifiable. Errors as of {@link SetHandle}; besides, calls fail
 * with INVALID_ARGUMENT for an element that cannot be encoded or found again, and with MALFORMED
 * for a value that cannot be decoded. Cheap; thread-safe.
 */
public final class TypedSet<E> extends SetCalls<E, Collection<? extends E>, Set<E>> {
  TypedSet(ObjectRef target, CheckedCodec<E> encoding) {
    super(target, encoding, encoding::set);
  }

  /** As {@link SetHandle#expiring}. */
  public TypedSet<E> expiring(Duration timeToLive) {
    return new TypedSet<>(target.withPartDeadlines(Deadlines.after(timeToLive)), encoding);
  }

  /** Adds elements, at least one; those that are there stay. */
  @SafeVarargs
  @SuppressWarnings("varargs") // the array is only read
  public final void add(E... elements) {
    addAll(Arrays.asList(elements));
  }

  /** Adds elements, at least one; those that are there stay. */
  public void addAll(Collection<? extends E> elements) {
    Calls.join(addAllAsync(elements));
  }

  /** As {@link #addAll}. */
  public CompletableFuture<Void> addAllAsync(Collection<? extends E> elements) {
    return adding(elements);
  }

  /**
   * Removes elements, as far as this session's datacenter sees them; a grow-only set refuses this.
   */
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
    return removing(elements);
  }
}
