package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Value;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.PagePublisher;
import io.osier.proxy.future.PageReader;
import io.osier.proxy.future.PageStream;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.values.ValueCodec;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A set of values, in the order of values. Cheap; thread-safe.
 *
 * <pre>{@code
 * shop.set("cart:ada").add("book", "pen");
 * List<Value> added = shop.set("cart:ada").addNew("pen", "ink");    // ink
 * boolean has = shop.set("cart:ada").contains(Value.of("book"));
 * shop.set("cart:ada").remove("pen");
 * }</pre>
 *
 * <p>The set's type decides whether an addition or a concurrent removal wins: see {@link
 * ObjectSpace}. Calls fail with VALUE_TOO_LARGE if an element, or the set, would exceed the
 * keyspace's limit, and with WRONG_TYPE if the key holds another type.
 */
public final class SetHandle extends SetCalls<Value, List<Value>, List<Value>> {
  SetHandle(ObjectRef target) {
    super(target, CheckedCodec.AS_IS, Function.identity());
  }

  /**
   * Returns a handle of the same set for objects of a class, encoded as the client is set to
   * ({@link OsierClient.Builder#values}).
   *
   * @throws OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <E> TypedSet<E> as(Class<E> type) {
    return as(target.values().codec(type));
  }

  /** Returns a handle of the same set for objects that a codec encodes. */
  public <E> TypedSet<E> as(ValueCodec<E> codec) {
    return new TypedSet<>(target, new CheckedCodec<>(codec));
  }

  /**
   * Returns a handle of the same set whose additions also give each added element this time to
   * live, counted from the addition; it replaces the element's former deadline. Addition and
   * deadline are one operation, so nobody sees one without the other.
   *
   * <pre>{@code
   * shop.set("online").expiring(Duration.ofSeconds(30)).add("ada"); // and again every 10 seconds
   * }</pre>
   *
   * <p>An expired element is hidden at each datacenter as soon as its own clock has passed the
   * deadline, and is removed later; an addition after that adds it anew, without a deadline.
   * Removing an element ends its time to live. An addition by another handle of the set keeps the
   * element's deadline.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the element expires at once
   * @throws OsierException INVALID_ARGUMENT if the time ends after the year 9999. The updates fail
   *     with INVALID_ARGUMENT if the set is a map's field, and with VERSION_MISMATCH while a
   *     datacenter runs a version that knows no time to live of elements
   */
  public SetHandle expiring(Duration timeToLive) {
    return new SetHandle(target.withPartDeadlines(Deadlines.after(timeToLive)));
  }

  /** Adds elements, at least one; elements that are in the set stay. */
  public void add(List<Value> elements) {
    Calls.join(addAsync(elements));
  }

  /** As {@link #add}. */
  public CompletableFuture<Void> addAsync(List<Value> elements) {
    return adding(elements);
  }

  /**
   * Removes elements, as far as this session's datacenter sees them; a grow-only set refuses this.
   */
  public void remove(List<Value> elements) {
    Calls.join(removeAsync(elements));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<Value> elements) {
    return removing(elements);
  }

  /** Adds strings, at least one; elements that are in the set stay. */
  public void add(String... elements) {
    add(values(elements));
  }

  /** Removes strings, at least one, as far as this session's datacenter sees them. */
  public void remove(String... elements) {
    remove(values(elements));
  }

  /** As {@link #addNew}, with strings. */
  public List<Value> addNew(String... elements) {
    return addNew(values(elements));
  }

  /** As {@link #removePresent}, with strings. */
  public List<Value> removePresent(String... elements) {
    return removePresent(values(elements));
  }

  private static List<Value> values(String... elements) {
    return Arrays.stream(elements).map(Value::of).toList();
  }

  /**
   * As {@link #stream}, for subscribers that request as many elements as they want; each subscriber
   * reads the range anew.
   */
  public Flow.Publisher<Value> publisher(Range<Value> range) {
    Present.present(range, "a range");
    return new PagePublisher<>(() -> pages(range));
  }

  /**
   * Returns a stream of the elements that are in both sets: it reads pages of this set, and asks
   * the other set which of their elements it has. So call it on the smaller set.
   */
  public Stream<Value> intersection(SetHandle other) {
    Present.present(other, "a set");
    PageReader<Value> mine = pages(Range.all());
    return PageStream.of(
        new PageReader<Value>() {
          @Override
          public boolean isAtEnd() {
            return mine.isAtEnd();
          }

          @Override
          public CompletableFuture<List<Value>> nextRows() {
            return mine.nextRows().thenCompose(other::amongAsync);
          }
        });
  }

  /**
   * Returns whether another set has all elements of this one: reads this set page by page, until
   * the other lacks an element.
   */
  public boolean isSubsetOf(SetHandle other) {
    return Calls.join(isSubsetOfAsync(other));
  }

  /** As {@link #isSubsetOf}. */
  public CompletableFuture<Boolean> isSubsetOfAsync(SetHandle other) {
    return Calls.attempt(() -> areIn(Present.present(other, "a set"), pages(Range.all())));
  }

  private static CompletableFuture<Boolean> areIn(SetHandle other, PageReader<Value> pages) {
    return Calls.oneByOne(
        true,
        all -> !all || pages.isAtEnd(),
        all ->
            pages
                .nextRows()
                .thenCompose(
                    rows -> other.amongAsync(rows).thenApply(t -> t.size() == rows.size())));
  }
}
