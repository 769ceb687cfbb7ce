package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.future.Calls;
import io.osier.proxy.future.PagePublisher;
import io.osier.proxy.future.PageReader;
import io.osier.proxy.future.PageStream;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.objects.RangePages;
import io.osier.proxy.objects.RecordFields;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

/**
 * A map of named fields, each with its own type; a field may be a map again. Cheap; thread-safe.
 *
 * <pre>{@code
 * MapHandle ada = shop.map("user:ada");
 * ada.register("city").assign("York");
 * ada.counter("visits").increment();
 * ada.map("address").register("street").assign("Main Street 1");
 * ada.remove(List.of("city"));
 * }</pre>
 *
 * <p>An update of a field wins against a concurrent removal of the field. Calls fail with
 * VALUE_TOO_LARGE if a value, or the map, would exceed the keyspace's limit, with INVALID_ARGUMENT
 * if maps are nested too deep, and with WRONG_TYPE if the key holds another type.
 */
public final class MapHandle extends HandleSource {
  private final ObjectRef target;

  MapHandle(ObjectRef target) {
    this.target = target;
  }

  @Override
  ObjectRef target(String field, CrdtType type) {
    return target.field(field, type);
  }

  /**
   * Returns a handle of the same map that reads and writes fields as a record's components.
   *
   * @throws OsierException INVALID_ARGUMENT if a component cannot be a field
   */
  public <R extends Record> RecordMap<R> as(Class<R> type) {
    return new RecordMap<>(this, RecordFields.of(type, target.values()));
  }

  /**
   * Returns a handle of the same map whose updates of fields also give each updated field this time
   * to live, counted from the update; it replaces the field's former deadline. Update and deadline
   * are one operation, so nobody sees one without the other.
   *
   * <pre>{@code
   * MapHandle offers = shop.map("offers").expiring(Duration.ofHours(1));
   * offers.register("apples").assign("0.99");
   * }</pre>
   *
   * <p>An expired field is hidden at each datacenter as soon as its own clock has passed the
   * deadline, and is removed later; a later update begins with a new field, without a deadline.
   * Removing a field ends its time to live. An update by another handle of the map keeps the
   * field's deadline.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the field expires at once
   * @throws OsierException INVALID_ARGUMENT if the time ends after the year 9999. The updates fail
   *     with INVALID_ARGUMENT for maps and sets nested in a field, and with VERSION_MISMATCH while
   *     a datacenter runs a version that knows no time to live of fields
   */
  public MapHandle expiring(Duration timeToLive) {
    return new MapHandle(target.withPartDeadlines(Deadlines.after(timeToLive)));
  }

  /**
   * Lets those of the fields that exist expire after some time, by the datacenter's clock. It
   * replaces their former deadlines; of concurrent deadlines given at several datacenters the
   * latest counts. Errors as of {@link #expiring}.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive the fields expire at once
   */
  public void expireAfter(List<String> fields, Duration timeToLive) {
    Calls.join(expireAfterAsync(fields, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(List<String> fields, Duration timeToLive) {
    return Calls.attempt(() -> target.expireParts(parts(fields), Deadlines.after(timeToLive)));
  }

  /** As {@link #expireAfter}, at a point in time; one that has passed lets them expire at once. */
  public void expireAt(List<String> fields, Instant deadline) {
    Calls.join(expireAtAsync(fields, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(List<String> fields, Instant deadline) {
    return Calls.attempt(() -> target.expireParts(parts(fields), Deadlines.at(deadline)));
  }

  /**
   * Removes the fields' deadlines. This wins against deadlines that are given concurrently
   * elsewhere.
   */
  public void persist(List<String> fields) {
    Calls.join(persistAsync(fields));
  }

  /** As {@link #persist}. */
  public CompletableFuture<Void> persistAsync(List<String> fields) {
    return Calls.attempt(() -> target.update(new Operation.PersistParts(parts(fields))));
  }

  /**
   * Returns how long a field lives on, by the datacenter's clock, unless the whole map expires
   * before; empty if the field does not expire, or does not exist.
   */
  public Optional<Duration> timeToLive(String field) {
    return Calls.join(timeToLiveAsync(field));
  }

  /** As {@link #timeToLive}. */
  public CompletableFuture<Optional<Duration>> timeToLiveAsync(String field) {
    return Calls.attempt(() -> target.timeToLive(new Part.Field(field)));
  }

  private static List<Part> parts(List<String> fields) {
    return Present.present(fields, "fields").stream()
        .map(field -> (Part) new Part.Field(field))
        .toList();
  }

  /** Updates several fields at once, as one update: all of them or, if one is refused, none. */
  public void update(List<Operation.FieldUpdate> updates) {
    Calls.join(updateAsync(updates));
  }

  /** As {@link #update}. */
  public CompletableFuture<Void> updateAsync(List<Operation.FieldUpdate> updates) {
    return target.update(new Operation.UpdateFields(updates));
  }

  /** Removes fields, as far as this session's datacenter has seen them: concurrent updates stay. */
  public void remove(List<String> fields) {
    Calls.join(removeAsync(fields));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<String> fields) {
    return target.update(new Operation.RemoveFields(fields));
  }

  /**
   * Reads the existing fields, in the order of their names; {@link #read} returns them in a form
   * without casts, and {@link #get(Range)} page by page.
   */
  public SortedMap<FieldId, Reading> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Fields) r).fields());
  }

  /** Reads those of the named fields that exist. */
  public SortedMap<FieldId, Reading> get(List<String> fields) {
    return Calls.join(getAsync(fields));
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync(List<String> fields) {
    return target.read(new Query.Select(fields), r -> ((Reading.Fields) r).fields());
  }

  /**
   * Reads one page: the fields of a range of names, up to the range's limit, or a few more where
   * one name has fields of several types. The cost depends on the page, not on the size of the map.
   */
  public SortedMap<FieldId, Reading> get(Range<String> range) {
    return Calls.join(getAsync(range));
  }

  /** As {@link #get(Range)}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync(Range<String> range) {
    return Calls.attempt(
        () ->
            target.read(
                Present.present(range, "a range").query(Part.Field::new),
                r -> ((Reading.Fields) r).fields()));
  }

  /**
   * Returns the fields of a range of names as a stream, in the range's order, read page by page;
   * see {@link SetHandle#stream}.
   */
  public Stream<Map.Entry<FieldId, Reading>> stream(Range<String> range) {
    return PageStream.of(pages(range));
  }

  /**
   * As {@link #stream}, for subscribers that request as many fields as they want; each subscriber
   * reads the range anew.
   */
  public Flow.Publisher<Map.Entry<FieldId, Reading>> publisher(Range<String> range) {
    Present.present(range, "a range");
    return new PagePublisher<>(() -> pages(range));
  }

  private PageReader<Map.Entry<FieldId, Reading>> pages(Range<String> range) {
    return new RangePages<>(
        Present.present(range, "a range"),
        range.limit(),
        rest ->
            getAsync(rest)
                .thenApply(
                    fields -> {
                      List<Map.Entry<FieldId, Reading>> inOrder = List.copyOf(fields.entrySet());
                      return rest.isDescending() ? inOrder.reversed() : inOrder;
                    }),
        (of, entry) -> of.behind(entry.getKey().name()));
  }

  /**
   * Reads the fields, in a form whose methods return each field by its type, at any depth, without
   * casts.
   *
   * <pre>{@code
   * Reading.Fields ada = shop.map("user:ada").read();
   * String city = ada.field("city").flatMap(Reading::asValue).map(Value::asText).orElse("");
   * long visits = ada.field("visits").map(Reading::asLong).orElse(0L);
   * Reading.Fields address = ada.field("address").orElseThrow().asFields();
   * }</pre>
   */
  public Reading.Fields read() {
    return Calls.join(readAsync());
  }

  /** As {@link #read}. */
  public CompletableFuture<Reading.Fields> readAsync() {
    return target.read(new Query.Whole(), Reading::asFields);
  }

  /**
   * Reads the fields that are counters, by their names.
   *
   * <pre>{@code
   * shop.map("votes").counter("yes").increment();
   * Map<String, Long> votes = shop.map("votes").counters();    // {yes=1}
   * }</pre>
   */
  public SortedMap<String, Long> counters() {
    return Calls.join(countersAsync());
  }

  /** As {@link #counters}. */
  public CompletableFuture<SortedMap<String, Long>> countersAsync() {
    return readAsync().thenApply(Reading.Fields::counters);
  }

  /** As {@link RegisterHandle#clear}. */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
