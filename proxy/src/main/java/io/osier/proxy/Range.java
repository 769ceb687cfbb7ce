package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import java.util.Optional;
import java.util.function.Function;

/**
 * A range of a set's elements, ordered by value, or of a map's fields, ordered by name: for {@link
 * SetHandle#get(Range)}, {@link SetHandle#stream} and the like. Immutable.
 *
 * <pre>{@code
 * List<Value> page = shop.set("names").get(Range.after(Value.of("Ada")).limit(50));
 * try (Stream<Value> last = shop.set("names").stream(Range.<Value>all().descending())) {
 *   last.limit(10).forEach(System.out::println);
 * }
 * }</pre>
 *
 * @param <B> the type of the ends: an element, or a field's name; neither end need exist
 */
public final class Range<B> {
  /** The default number of elements or fields of a page, and of a stream's single request. */
  static final int PAGE_ROWS = 500;

  private record End<B>(B at, boolean inclusive) {}

  private final Optional<End<B>> from;
  private final Optional<End<B>> to;
  private final boolean descending;
  private final int limit;

  private Range(Optional<End<B>> from, Optional<End<B>> to, boolean descending, int limit) {
    this.from = from;
    this.to = to;
    this.descending = descending;
    this.limit = limit;
  }

  /** All elements or fields. */
  public static <B> Range<B> all() {
    return new Range<>(Optional.empty(), Optional.empty(), false, PAGE_ROWS);
  }

  /** All elements or fields from {@code first} on, including it. */
  public static <B> Range<B> from(B first) {
    return Range.<B>all().withFrom(first, true);
  }

  /**
   * All elements or fields after {@code last}, excluding it: what follows a page that ended with
   * it.
   */
  public static <B> Range<B> after(B last) {
    return Range.<B>all().withFrom(last, false);
  }

  /** Returns this range up to {@code last}, including it. */
  public Range<B> to(B last) {
    return withTo(last, true);
  }

  /** Returns this range up to {@code end}, excluding it. */
  public Range<B> before(B end) {
    return withTo(end, false);
  }

  /** Returns this range in descending order. */
  public Range<B> descending() {
    return new Range<>(from, to, true, limit);
  }

  /**
   * Returns this range with another size of pages than 500: the most elements or fields that one
   * read returns, and the number that a stream requests at once.
   *
   * @param rows 1 to {@link Query.Range#LIMIT_MAX}
   * @throws OsierException INVALID_ARGUMENT if the number is out of range
   */
  public Range<B> limit(int rows) {
    if (rows < 1 || rows > Query.Range.LIMIT_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a page has 1 to " + Query.Range.LIMIT_MAX + " elements or fields, not " + rows);
    }
    return new Range<>(from, to, descending, rows);
  }

  private Range<B> withFrom(B at, boolean inclusive) {
    return new Range<>(Optional.of(end(at, inclusive)), to, descending, limit);
  }

  private Range<B> withTo(B at, boolean inclusive) {
    return new Range<>(from, Optional.of(end(at, inclusive)), descending, limit);
  }

  private static <B> End<B> end(B at, boolean inclusive) {
    return new End<>(present(at, "an end of a range"), inclusive);
  }

  boolean isDescending() {
    return descending;
  }

  int limit() {
    return limit;
  }

  /** Returns the rest of this range after an element or field that was shown. */
  Range<B> behind(B shown) {
    return descending ? withTo(shown, false) : withFrom(shown, false);
  }

  /** Returns this range with converted ends. */
  <C> Range<C> map(Function<B, C> of) {
    return new Range<>(
        from.map(e -> new End<>(of.apply(e.at), e.inclusive)),
        to.map(e -> new End<>(of.apply(e.at), e.inclusive)),
        descending,
        limit);
  }

  Query query(Function<B, Part> part) {
    return new Query.Range(bound(from, part), bound(to, part), descending, limit);
  }

  private static <B> Optional<Query.Bound> bound(Optional<End<B>> end, Function<B, Part> part) {
    return end.map(e -> new Query.Bound(part.apply(e.at), e.inclusive));
  }
}
