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
 * The calls that all sets have.
 *
 * @param <E> an element: a value, or an object of one class
 * @param <C> elements, as they are given
 * @param <R> different elements in the order of their values, as they are returned
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
   * Lets elements expire after some time, by the datacenter's clock: those that are there. Former
   * deadlines are replaced; of those that are given at the same time at several datacenters the
   * latest counts. Errors as of {@link SetHandle#expiring}.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive they expire at once
   */
  public void expireAfter(C elements, Duration timeToLive) {
    Calls.join(expireAfterAsync(elements, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(C elements, Duration timeToLive) {
    return Calls.attempt(() -> target.expireParts(parts(elements), Deadlines.after(timeToLive)));
  }

  /** As {@link #expireAfter}, at a point in time; one that has passed lets them expire at once. */
  public void expireAt(C elements, Instant deadline) {
    Calls.join(expireAtAsync(elements, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(C elements, Instant deadline) {
    return Calls.attempt(() -> target.expireParts(parts(elements), Deadlines.at(deadline)));
  }

  /**
   * Lets elements live on that would expire. This wins against deadlines that are given at the same
   * time elsewhere.
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
   * How long an element lives on, by the datacenter's clock, if the whole does; empty if it does
   * not expire, or is not there.
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
   * Adds elements, and tells which of them were not in the set, as this session's datacenter saw
   * it, each once, in their order.
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
   * Removes elements, and tells which of them were in the set, as this session's datacenter saw it,
   * each once, in their order.
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

  /** Which of some elements are in the set, each once, in their order. */
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

  /** The elements, in the order of their values. */
  public R get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<R> getAsync() {
    return elements(target.read(new Query.Whole(), SetCalls::many));
  }

  /**
   * A page: the elements of a range, in its order, up to its limit. It costs what it shows, not
   * what the set has.
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

  /** The least element, by the order of values; empty if there is none. */
  public Optional<E> first() {
    return Calls.join(firstAsync());
  }

  /** As {@link #first}. */
  public CompletableFuture<Optional<E>> firstAsync() {
    return getAsync(Range.<E>all().limit(1)).thenApply(page -> page.stream().findFirst());
  }

  /** The greatest element, by the order of values; empty if there is none. */
  public Optional<E> last() {
    return Calls.join(lastAsync());
  }

  /** As {@link #last}. */
  public CompletableFuture<Optional<E>> lastAsync() {
    return getAsync(Range.<E>all().descending().limit(1))
        .thenApply(page -> page.stream().findFirst());
  }

  /**
   * The elements of a range as a stream, in its order, however many they are: a page is read when
   * an element of it is wanted, and shows the set as it is then. What is in the set all the time is
   * shown once; what comes or goes meanwhile is shown or not. Within a transaction that reads a
   * snapshot it is the set as it was. Used by one thread; its calls wait, and throw what they
   * throw.
   */
  public Stream<E> stream(Range<E> range) {
    return PageStream.of(pages(values(range))).map(encoding::object);
  }

  final PageReader<Value> pages(Range<Value> range) {
    return new RangePages<>(range, range.limit(), this::page, Range::behind);
  }

  /** Whether the element is in the set, without fetching the set. */
  public boolean contains(E element) {
    return Calls.join(containsAsync(element));
  }

  /** As {@link #contains}. */
  public CompletableFuture<Boolean> containsAsync(E element) {
    return CheckedCodec.call(
        () -> encoding.element(element),
        value -> target.read(new Query.Contains(value), r -> ((Reading.Flag) r).value()));
  }

  /** How many elements there are, without fetching them. */
  public long size() {
    return Calls.join(sizeAsync());
  }

  /** As {@link #size}. */
  public CompletableFuture<Long> sizeAsync() {
    return target.read(new Query.Size(), r -> ((Reading.Count) r).value());
  }
}
