package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

/** A map of named fields. Cheap; thread-safe. */
public final class MapHandle {
  private final Target target;

  MapHandle(Target target) {
    this.target = target;
  }

  /**
   * The same map, of which some fields are a record's components.
   *
   * @throws OsierException INVALID_ARGUMENT if a component cannot be a field
   */
  public <R extends Record> RecordMap<R> as(Class<R> type) {
    return new RecordMap<>(this, RecordFields.of(type, target.values()));
  }

  /**
   * The same map, whose updates of fields also give those fields this time to live, each of its
   * own, from then on and in the place of a former one: in the same moment, as one update, so that
   * nobody ever sees one without the other.
   *
   * <pre>{@code
   * MapHandle offers = shop.map("offers").expiring(Duration.ofHours(1));
   * offers.register("apples").assign("0.99");
   * }</pre>
   *
   * <p>What has expired is not there any more, at each datacenter as soon as its own clock says so,
   * and is removed later; updating it then begins with a new one, without an end. What is removed
   * has no time to live any more. Updating what is there without this keeps its deadline.
   *
   * @param timeToLive rounded up to milliseconds; with one that is not positive it expires at once
   * @throws OsierException INVALID_ARGUMENT if it ends after the year 9999. The updates also fail
   *     with INVALID_ARGUMENT of what is nested in a field, and VERSION_MISMATCH while a datacenter
   *     runs a version that knows no time to live of fields
   */
  public MapHandle expiring(Duration timeToLive) {
    return new MapHandle(target.withPartDeadlines(Expiries.after(timeToLive)));
  }

  /**
   * Lets fields expire after some time, by the datacenter's clock: those that are there. Former
   * deadlines are replaced; of those that are given at the same time at several datacenters the
   * latest counts. Errors as of {@link #expiring}.
   *
   * @param timeToLive rounded up to milliseconds; if it is not positive they expire at once
   */
  public void expireAfter(List<String> fields, Duration timeToLive) {
    Calls.join(expireAfterAsync(fields, timeToLive));
  }

  /** As {@link #expireAfter}. */
  public CompletableFuture<Void> expireAfterAsync(List<String> fields, Duration timeToLive) {
    return Calls.attempt(
        () -> target.update(new Operation.ExpireParts(parts(fields), Expiries.after(timeToLive))));
  }

  /** As {@link #expireAfter}, at a point in time; one that has passed lets them expire at once. */
  public void expireAt(List<String> fields, Instant deadline) {
    Calls.join(expireAtAsync(fields, deadline));
  }

  /** As {@link #expireAt}. */
  public CompletableFuture<Void> expireAtAsync(List<String> fields, Instant deadline) {
    return Calls.attempt(
        () -> target.update(new Operation.ExpireParts(parts(fields), Expiries.at(deadline))));
  }

  /**
   * Lets fields live on that would expire. This wins against deadlines that are given at the same
   * time elsewhere.
   */
  public void persist(List<String> fields) {
    Calls.join(persistAsync(fields));
  }

  /** As {@link #persist}. */
  public CompletableFuture<Void> persistAsync(List<String> fields) {
    return Calls.attempt(() -> target.update(new Operation.PersistParts(parts(fields))));
  }

  /**
   * How long a field lives on, by the datacenter's clock, if the whole does; empty if it does not
   * expire, or is not there.
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

  /** A counter in a field. */
  public CounterHandle counter(String field) {
    return new CounterHandle(target.field(field, CrdtType.PN_COUNTER));
  }

  /** A grow-only counter in a field. */
  public CounterHandle growOnlyCounter(String field) {
    return new CounterHandle(target.field(field, CrdtType.G_COUNTER));
  }

  /** A last-writer-wins register in a field. */
  public RegisterHandle register(String field) {
    return new RegisterHandle(target.field(field, CrdtType.LWW_REGISTER));
  }

  /** A multi-value register in a field. */
  public MultiRegisterHandle multiRegister(String field) {
    return new MultiRegisterHandle(target.field(field, CrdtType.MV_REGISTER));
  }

  /** An enable-wins flag in a field. */
  public FlagHandle flag(String field) {
    return new FlagHandle(target.field(field, CrdtType.EW_FLAG));
  }

  /** A disable-wins flag in a field. */
  public FlagHandle disableWinsFlag(String field) {
    return new FlagHandle(target.field(field, CrdtType.DW_FLAG));
  }

  /** An add-wins set in a field. */
  public SetHandle set(String field) {
    return new SetHandle(target.field(field, CrdtType.AW_SET));
  }

  /** A grow-only set in a field. */
  public SetHandle growOnlySet(String field) {
    return new SetHandle(target.field(field, CrdtType.G_SET));
  }

  /** A remove-wins set in a field. */
  public SetHandle removeWinsSet(String field) {
    return new SetHandle(target.field(field, CrdtType.RW_SET));
  }

  /** A map in a field. */
  public MapHandle map(String field) {
    return new MapHandle(target.field(field, CrdtType.OR_MAP));
  }

  /** A register of objects of a class, in which the last assignment wins. */
  public <T> TypedRegister<T> register(String field, Class<T> type) {
    return register(field).as(type);
  }

  /** A register of objects of a class that keeps those of concurrent assignments. */
  public <T> TypedMultiRegister<T> multiRegister(String field, Class<T> type) {
    return multiRegister(field).as(type);
  }

  /** A set of objects of a class, in which adding wins. */
  public <E> TypedSet<E> set(String field, Class<E> type) {
    return set(field).as(type);
  }

  /** A map whose fields are a record's components. */
  public <R extends Record> RecordMap<R> map(String field, Class<R> type) {
    return map(field).as(type);
  }

  /** Updates several fields at once: all or none. */
  public void update(List<Operation.FieldUpdate> updates) {
    Calls.join(updateAsync(updates));
  }

  /** As {@link #update}. */
  public CompletableFuture<Void> updateAsync(List<Operation.FieldUpdate> updates) {
    return target.update(new Operation.UpdateFields(updates));
  }

  /** Removes fields: resets what is seen of them. */
  public void remove(List<String> fields) {
    Calls.join(removeAsync(fields));
  }

  /** As {@link #remove}. */
  public CompletableFuture<Void> removeAsync(List<String> fields) {
    return target.update(new Operation.RemoveFields(fields));
  }

  /** The fields that are present. */
  public SortedMap<FieldId, Reading> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Fields) r).fields());
  }

  /** Some of the fields, those that are present. */
  public SortedMap<FieldId, Reading> get(List<String> fields) {
    return Calls.join(getAsync(fields));
  }

  /** As {@link #get}. */
  public CompletableFuture<SortedMap<FieldId, Reading>> getAsync(List<String> fields) {
    return target.read(new Query.Select(fields), r -> ((Reading.Fields) r).fields());
  }

  /**
   * A page: the fields of a range of names, up to its limit, or a few more where one name has
   * fields of several types. It costs what it shows, not what the map has.
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
   * The fields of a range of names as a stream, in its order, however many they are; see {@link
   * SetHandle#stream}.
   */
  public Stream<Map.Entry<FieldId, Reading>> stream(Range<String> range) {
    return PageStream.of(pages(range));
  }

  /**
   * As {@link #stream}, for subscribers that say how many they want; each has a reading of its own.
   */
  public Flow.Publisher<Map.Entry<FieldId, Reading>> publisher(Range<String> range) {
    Present.present(range, "a range");
    return new PagePublisher<>(() -> pages(range));
  }

  private Pages<Map.Entry<FieldId, Reading>> pages(Range<String> range) {
    return new RangePages<>(
        Present.present(range, "a range"),
        rest ->
            getAsync(rest)
                .thenApply(
                    fields -> {
                      List<Map.Entry<FieldId, Reading>> inOrder = List.copyOf(fields.entrySet());
                      return rest.isDescending() ? inOrder.reversed() : inOrder;
                    }),
        entry -> entry.getKey().name());
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
