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
 * <p>Which of an addition and a removal at the same time wins is the type's: see {@link
 * ObjectSpace}. VALUE_TOO_LARGE if an element, or the set, would be over the keyspace's limit,
 * WRONG_TYPE if the key holds another type.
 */
public final class SetHandle extends SetCalls<Value, List<Value>, List<Value>> {
  SetHandle(ObjectRef target) {
    super(target, CheckedCodec.AS_IS, Function.identity());
  }

  /**
   * The same set, of objects of a class, as the client keeps them ({@link
   * OsierClient.Builder#values}).
   *
   * @throws OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <E> TypedSet<E> as(Class<E> type) {
    return as(target.values().codec(type));
  }

  /** The same set, of objects that a codec makes. */
  public <E> TypedSet<E> as(ValueCodec<E> codec) {
    return new TypedSet<>(target, new CheckedCodec<>(codec));
  }

  /**
   * The same set, whose additions also give their elements this time to live, each of its own, from
   * then on and in the place of a former one: in the same moment, as one update, so that nobody
   * ever sees one without the other.
   *
   * <pre>{@code
   * shop.set("online").expiring(Duration.ofSeconds(30)).add("ada"); // and again every 10 seconds
   * }</pre>
   *
   * <p>What has expired is not there any more, at each datacenter as soon as its own clock says so,
   * and is removed later; adding it then is adding it anew, without an end. What is removed has no
   * time to live any more. Adding what is there without this keeps its deadline.
   *
   * @param timeToLive rounded up to milliseconds; with one that is not positive it expires at once
   * @throws OsierException INVALID_ARGUMENT if it ends after the year 9999. The updates also fail
   *     with INVALID_ARGUMENT of what is nested in a field, and VERSION_MISMATCH while a datacenter
   *     runs a version that knows no time to live of elements
   */
  public SetHandle expiring(Duration timeToLive) {
    return new SetHandle(target.withPartDeadlines(Deadlines.after(timeToLive)));
  }

  /** Adds elements, at least one; those that are there stay. */
  public void add(List<Value> elements) {
    Calls.join(addAsync(elements));
  }

  /** As {@link #add}. */
  public CompletableFuture<Void> addAsync(List<Value> elements) {
    return adding(elements);
  }

  /** Removes elements, as far as they are seen; not from a grow-only set. */
  public void remove(List<Value> elements) {
    Calls.join(removeAsync(elements));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<Value> elements) {
    return removing(elements);
  }

  /** Adds strings, at least one; those that are there stay. */
  public void add(String... elements) {
    add(values(elements));
  }

  /** Removes strings, at least one, as far as this datacenter sees them. */
  public void remove(String... elements) {
    remove(values(elements));
  }

  /** As {@link #addNew}, of strings. */
  public List<Value> addNew(String... elements) {
    return addNew(values(elements));
  }

  /** As {@link #removePresent}, of strings. */
  public List<Value> removePresent(String... elements) {
    return removePresent(values(elements));
  }

  private static List<Value> values(String... elements) {
    return Arrays.stream(elements).map(Value::of).toList();
  }

  /**
   * As {@link #stream}, for subscribers that say how many they want; each has a reading of its own.
   */
  public Flow.Publisher<Value> publisher(Range<Value> range) {
    Present.present(range, "a range");
    return new PagePublisher<>(() -> pages(range));
  }

  /**
   * The elements that another set has, too, as {@link #stream}: pages of this set, of which the
   * other one is asked. So it is cheapest on the smaller set.
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
   * Whether another set has all elements of this one: read page by page, until one is not there.
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
