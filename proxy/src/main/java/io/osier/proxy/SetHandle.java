package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.values.ValueCodec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

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
   * @throws OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <E> TypedSet<E> as(Class<E> type) {
    return as(target.values().codec(type));
  }

  /** The same set, of objects that a codec makes. */
  public <E> TypedSet<E> as(ValueCodec<E> codec) {
    return new TypedSet<>(this, new Encoding<>(codec));
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
    return new SetHandle(target.withPartDeadlines(Expiries.after(timeToLive)));
  }

  /**
   * Lets elements expire after some time, by the datacenter's clock: those that are there. Former
   * deadlines are replaced; of those that are given at the same time at several datacenters the
   * latest counts. Errors as of {@link #expiring}.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive they expire at once
   */
  public void expireAfter(List<Value> elements, Duration timeToLive) {
    Calls.join(expireAfterAsync(elements, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(List<Value> elements, Duration timeToLive) {
    return Calls.attempt(
        () ->
            target.update(new Operation.ExpireParts(parts(elements), Expiries.after(timeToLive))));
  }

  /** As {@link #expireAfter}, at a point in time; one that has passed lets them expire at once. */
  public void expireAt(List<Value> elements, Instant deadline) {
    Calls.join(expireAtAsync(elements, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(List<Value> elements, Instant deadline) {
    return Calls.attempt(
        () -> target.update(new Operation.ExpireParts(parts(elements), Expiries.at(deadline))));
  }

  /**
   * Lets elements live on that would expire. This wins against deadlines that are given at the same
   * time elsewhere.
   */
  public void persist(List<Value> elements) {
    Calls.join(persistAsync(elements));
  }

  /** As {@link #persist}. */
  public CompletableFuture<Void> persistAsync(List<Value> elements) {
    return Calls.attempt(() -> target.update(new Operation.PersistParts(parts(elements))));
  }

  /**
   * How long an element lives on, by the datacenter's clock, if the whole does; empty if it does
   * not expire, or is not there.
   */
  public Optional<Duration> timeToLive(Value element) {
    return Calls.join(timeToLiveAsync(element));
  }

  /** As {@link #timeToLive}. */
  public CompletableFuture<Optional<Duration>> timeToLiveAsync(Value element) {
    return Calls.attempt(() -> target.timeToLive(new Part.Element(element)));
  }

  private static List<Part> parts(List<Value> elements) {
    return Present.present(elements, "elements").stream()
        .map(element -> (Part) new Part.Element(element))
        .toList();
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

  /**
   * A page: the elements of a range, in its order, up to its limit. It costs what it shows, not
   * what the set has.
   */
  public List<Value> get(Range<Value> range) {
    return Calls.join(getAsync(range));
  }

  /** As {@link #get(Range)}. */
  public CompletableFuture<List<Value>> getAsync(Range<Value> range) {
    return Calls.attempt(
        () ->
            target.read(
                Present.present(range, "a range").query(Part.Element::new),
                r -> {
                  List<Value> inOrder = ((Reading.Many) r).values();
                  return range.isDescending() ? inOrder.reversed() : inOrder;
                }));
  }

  /** The least element, by the order of values; empty if there is none. */
  public Optional<Value> first() {
    return Calls.join(firstAsync());
  }

  /** As {@link #first}. */
  public CompletableFuture<Optional<Value>> firstAsync() {
    return getAsync(Range.<Value>all().limit(1)).thenApply(page -> page.stream().findFirst());
  }

  /** The greatest element, by the order of values; empty if there is none. */
  public Optional<Value> last() {
    return Calls.join(lastAsync());
  }

  /** As {@link #last}. */
  public CompletableFuture<Optional<Value>> lastAsync() {
    return getAsync(Range.<Value>all().descending().limit(1))
        .thenApply(page -> page.stream().findFirst());
  }

  /**
   * The elements of a range as a stream, in its order, however many they are: a page is read when
   * an element of it is wanted, and shows the set as it is then. What is in the set all the time is
   * shown once; what comes or goes meanwhile is shown or not. Within a transaction that reads a
   * snapshot it is the set as it was. Used by one thread; its calls wait, and throw what they
   * throw.
   */
  public Stream<Value> stream(Range<Value> range) {
    return PageStream.of(pages(range));
  }

  /**
   * As {@link #stream}, for subscribers that say how many they want; each has a reading of its own.
   */
  public Flow.Publisher<Value> publisher(Range<Value> range) {
    Present.present(range, "a range");
    return new PagePublisher<>(() -> pages(range));
  }

  private Pages<Value> pages(Range<Value> range) {
    return new RangePages<>(Present.present(range, "a range"), this::getAsync, value -> value);
  }

  /**
   * The elements that another set has, too, as {@link #stream}: pages of this set, of which the
   * other one is asked. So it is cheapest on the smaller set.
   */
  public Stream<Value> intersection(SetHandle other) {
    Present.present(other, "a set");
    Pages<Value> mine = pages(Range.all());
    return PageStream.of(
        new Pages<Value>() {
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

  private static CompletableFuture<Boolean> areIn(SetHandle other, Pages<Value> pages) {
    return Calls.oneByOne(
        true,
        all -> !all || pages.isAtEnd(),
        all ->
            pages
                .nextRows()
                .thenCompose(
                    rows -> other.amongAsync(rows).thenApply(t -> t.size() == rows.size())));
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
