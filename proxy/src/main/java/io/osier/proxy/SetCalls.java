package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.PageReader;
import io.osier.proxy.future.PageStream;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.objects.RangePages;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The calls that all sets share.
 *
 * @param <E> the type of an element: a value, or an object of one class
 * @param <C> the collection in which callers pass elements
 * @param <R> the collection in which calls return distinct elements, in the order of their values
 */
abstract class SetCalls<E, C extends Collection<? extends E>, R> extends Handle {
  final CheckedCodec<E> encoding;
  private final Function<List<Value>, R> elements;

  SetCalls(ObjectRef target, CheckedCodec<E> encoding, Function<List<Value>, R> elements) {
    super(target);
    this.encoding = encoding;
    this.elements = elements;
  }

  private static List<Value> many(Reading reading) {
    return ((Reading.Many) reading).values();
  }

  private CompletableFuture<R> elements(CompletableFuture<List<Value>> values) {
    return encoding.decoded(values, elements);
  }

  /**
   * Lets those of the elements that are in the set expire after some time, by the datacenter's
   * clock. It replaces their former deadlines; of concurrent deadlines given at several datacenters
   * the latest counts. Errors as of {@link SetHandle#expiring}.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the elements expire at once
   */
  public void expireAfter(C elements, Duration timeToLive) {
    Calls.join(expireAfterAsync(elements, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(C elements, Duration timeToLive) {
    return Calls.attempt(() -> target.expireParts(parts(elements), Deadlines.after(timeToLive)));
  }

  /** As {@link #expireAfter}, at a point in time; if it has passed they expire at once. */
  public void expireAt(C elements, Instant deadline) {
    Calls.join(expireAtAsync(elements, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(C elements, Instant deadline) {
    return Calls.attempt(() -> target.expireParts(parts(elements), Deadlines.at(deadline)));
  }

  /**
   * Removes the elements' deadlines. This wins against deadlines that are given concurrently
   * elsewhere.
   */
  public void persist(C elements) {
    Calls.join(persistAsync(elements));
  }

  /** As {@link #persist}. */
  public CompletableFuture<Void> persistAsync(C elements) {
    return Calls.attempt(() -> target.update(new Operation.PersistParts(parts(elements))));
  }

  private List<Part> parts(C elements) {
    return present(encoding.elements(elements), "elements").stream()
        .map(element -> (Part) new Part.Element(element))
        .toList();
  }

  /**
   * Returns how long an element lives on, by the datacenter's clock, unless the whole set expires
   * before; empty if the element has no deadline, or is not in the set.
   */
  public Optional<Duration> timeToLive(E element) {
    return Calls.join(timeToLiveAsync(element));
  }

  /** As {@link #timeToLive}. */
  public CompletableFuture<Optional<Duration>> timeToLiveAsync(E element) {
    return Calls.attempt(() -> target.timeToLive(new Part.Element(encoding.element(element))));
  }

  final CompletableFuture<Void> adding(C elements) {
    return CheckedCodec.call(
        () -> encoding.elements(elements), values -> target.update(new Operation.Add(values)));
  }

  final CompletableFuture<Void> removing(C elements) {
    return CheckedCodec.call(
        () -> encoding.elements(elements), values -> target.update(new Operation.Remove(values)));
  }

  /**
   * Adds elements, and returns those that were not in the set, as this session's datacenter saw it:
   * each once, in the order of values.
   */
  public R addNew(C elements) {
    return Calls.join(addNewAsync(elements));
  }

  /** As {@link #addNew}. */
  public CompletableFuture<R> addNewAsync(C elements) {
    return elements(CheckedCodec.call(() -> encoding.elements(elements), this::addAbsent));
  }

  private CompletableFuture<List<Value>> addAbsent(List<Value> values) {
    Query.Among among = new Query.Among(values);
    return target.update(
        new Operation.Add(values),
        new Request.Ask(true, among),
        reading -> among.absent(many(reading)));
  }

  /**
   * Removes elements, and returns those that were in the set, as this session's datacenter saw it:
   * each once, in the order of values.
   */
  public R removePresent(C elements) {
    return Calls.join(removePresentAsync(elements));
  }

  /** As {@link #removePresent}. */
  public CompletableFuture<R> removePresentAsync(C elements) {
    return elements(
        CheckedCodec.call(
            () -> encoding.elements(elements),
            values ->
                target.update(
                    new Operation.Remove(values),
                    new Request.Ask(true, new Query.Among(values)),
                    SetCalls::many)));
  }

  /** Returns those of the given elements that are in the set: each once, in the order of values. */
  public R among(C elements) {
    return Calls.join(amongAsync(elements));
  }

  /** As {@link #among}. */
  public CompletableFuture<R> amongAsync(C elements) {
    return elements(
        CheckedCodec.call(
            () -> encoding.elements(elements),
            values -> target.read(new Query.Among(values), SetCalls::many)));
  }

  /** Reads all elements, in the order of their values. */
  public R get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<R> getAsync() {
    return elements(target.read(new Query.Whole(), SetCalls::many));
  }

  /**
   * Reads one page: the elements of a range, in the range's order, up to its limit. The cost
   * depends on the page, not on the size of the set.
   */
  public List<E> get(Range<E> range) {
    return Calls.join(getAsync(range));
  }

  /** As {@link #get(Range)}. */
  public CompletableFuture<List<E>> getAsync(Range<E> range) {
    return encoding.decoded(Calls.attempt(() -> page(values(range))), encoding::list);
  }

  private CompletableFuture<List<Value>> page(Range<Value> range) {
    return target.read(
        range.query(Part.Element::new),
        reading -> range.isDescending() ? many(reading).reversed() : many(reading));
  }

  private Range<Value> values(Range<E> range) {
    return present(range, "a range").map(encoding::element);
  }

  /** Reads the least element, by the order of values; empty if the set is. */
  public Optional<E> first() {
    return Calls.join(firstAsync());
  }

  /** As {@link #first}. */
  public CompletableFuture<Optional<E>> firstAsync() {
    return getAsync(Range.<E>all().limit(1)).thenApply(page -> page.stream().findFirst());
  }

  /** Reads the greatest element, by the order of values; empty if the set is. */
  public Optional<E> last() {
    return Calls.join(lastAsync());
  }

  /** As {@link #last}. */
  public CompletableFuture<Optional<E>> lastAsync() {
    return getAsync(Range.<E>all().descending().limit(1))
        .thenApply(page -> page.stream().findFirst());
  }

  /**
   * Returns the elements of a range as a stream, in the range's order, read page by page: a page is
   * read when one of its elements is wanted, and shows the set as it is then. Elements that stay in
   * the set are shown once; elements that are added or removed meanwhile may be shown or not. In a
   * transaction all pages are of its snapshot. The stream is for one thread, which waits for each
   * page and gets the exception if a page cannot be read.
   */
  public Stream<E> stream(Range<E> range) {
    return PageStream.of(pages(values(range))).map(encoding::object);
  }

  final PageReader<Value> pages(Range<Value> range) {
    return new RangePages<>(range, range.limit(), this::page, Range::behind);
  }

  /** Returns whether the element is in the set, without fetching the set. */
  public boolean contains(E element) {
    return Calls.join(containsAsync(element));
  }

  /** As {@link #contains}. */
  public CompletableFuture<Boolean> containsAsync(E element) {
    return CheckedCodec.call(
        () -> encoding.element(element),
        value -> target.read(new Query.Contains(value), r -> ((Reading.Flag) r).value()));
  }

  /** Returns how many elements the set has, without fetching them. */
  public long size() {
    return Calls.join(sizeAsync());
  }

  /** As {@link #size}. */
  public CompletableFuture<Long> sizeAsync() {
    return target.read(new Query.Size(), r -> ((Reading.Count) r).value());
  }
}
