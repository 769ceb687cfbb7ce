package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.RecordFields;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * A map whose fields are a record's components, by name. A component's declared type decides the
 * type of its field:
 *
 * <ul>
 *   <li>{@code boolean}: an enable-wins flag; with {@code @FieldType(DW_FLAG)} a disable-wins one
 *   <li>{@code Set<E>}: an add-wins set; with {@code RW_SET} a remove-wins one, with {@code G_SET}
 *       a grow-only one
 *   <li>{@code long} with {@code @FieldType(PN_COUNTER)} or {@code G_COUNTER}: a counter
 *   <li>{@code List<E>} with {@code @FieldType(MV_REGISTER)}: the values of concurrent assignments
 *   <li>{@code Optional<T>} and everything else: a last-writer-wins register. Without {@code
 *       Optional} a component that was never assigned is 0, false or null
 * </ul>
 *
 * <pre>{@code
 * record User(String name, Set<String> tags, @FieldType(CrdtType.PN_COUNTER) long visits) {}
 *
 * RecordMap<User> ada = shop.map("user:1", User.class);
 * ada.update(user -> new User("Ada", user.tags(), user.visits() + 1));
 * }</pre>
 *
 * <p>The map's other fields stay as they are. Errors as of {@link MapHandle} and {@link
 * TypedRegister}. Cheap; thread-safe.
 */
public final class RecordMap<R extends Record> {
  private final MapHandle map;
  private final RecordFields<R> fields;

  RecordMap(MapHandle map, RecordFields<R> fields) {
    this.map = map;
    this.fields = fields;
  }

  /** Returns the map, for calls that concern one field: its counters, sets and registers. */
  public MapHandle handle() {
    return map;
  }

  /** Reads the record; empty if none of its fields exists. */
  public Optional<R> get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Optional<R>> getAsync() {
    return map.getAsync(fields.names())
        .thenApply(
            read -> fields.isAnyIn(read) ? Optional.of(fields.record(read)) : Optional.empty());
  }

  /**
   * Reads the record, and writes what a function changes in it, as one update: assigns registers
   * and flags that differ, adds and removes the elements by which sets differ, and increments
   * counters by the difference. Concurrent changes are therefore merged field by field: two such
   * calls on different fields, counters or elements both take effect, and of two that assign the
   * same register the later one wins.
   *
   * @param change is given the record as this session's datacenter sees it, or a new one (no
   *     elements, 0, false, null) if there is none. It may run in the thread that delivers the
   *     answer, so it must not wait
   * @return the function's result; if it equals the record that was read, nothing is sent
   * @throws OsierException also INVALID_ARGUMENT if a register would become null (which cannot be
   *     stored), or a grow-only field would shrink; nothing was done
   */
  public R update(UnaryOperator<R> change) {
    return Calls.join(updateAsync(change));
  }

  /** As {@link #update}. */
  public CompletableFuture<R> updateAsync(UnaryOperator<R> change) {
    present(change, "a change");
    return map.getAsync(fields.names())
        .thenCompose(
            read -> {
              R before = fields.record(read);
              R after = change.apply(before);
              if (after == null) {
                return CompletableFuture.failedFuture(
                    OsierException.of(
                        ErrorCode.INVALID_ARGUMENT, "a record must be made, not null"));
              }
              List<Operation.FieldUpdate> updates = fields.changes(before, after);
              return updates.isEmpty()
                  ? CompletableFuture.completedFuture(after)
                  : map.updateAsync(updates).thenApply(done -> after);
            });
  }

  /** As {@link MapHandle#clear}: resets the map's other fields, too. */
  public void clear() {
    map.clear();
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return map.clearAsync();
  }
}
