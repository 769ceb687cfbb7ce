package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The calls that all registers have.
 *
 * @param <T> what is assigned: a value, or an object of one class
 * @param <V> the values of a reading of such a register
 * @param <R> what is read: what was assigned, if anything was
 */
abstract class RegisterCalls<T, V, R> extends Handle {
  final CheckedCodec<T> encoding;
  private final Function<Reading, V> values;
  private final Function<V, R> objects;

  RegisterCalls(
      ObjectRef target,
      CheckedCodec<T> encoding,
      Function<Reading, V> values,
      Function<V, R> objects) {
    super(target);
    this.encoding = encoding;
    this.values = values;
    this.objects = objects;
  }

  /** Assigns a value or an object, which replaces what was seen. */
  public void assign(T value) {
    Calls.join(assignAsync(value));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(T value) {
    return CheckedCodec.call(
        () -> encoding.value(value), encoded -> target.update(new Operation.Assign(encoded)));
  }

  /**
   * Assigns a value or an object, and tells what it replaced, as this session's datacenter saw it;
   * empty if nothing was assigned. If an object that was replaced cannot be decoded the call fails,
   * and the new one is assigned.
   */
  public R getAndAssign(T value) {
    return Calls.join(getAndAssignAsync(value));
  }

  /** As {@link #getAndAssign}. */
  public CompletableFuture<R> getAndAssignAsync(T value) {
    return encoding.decoded(CheckedCodec.call(() -> encoding.value(value), this::replace), objects);
  }

  private CompletableFuture<V> replace(Value by) {
    return target.update(
        new Operation.Assign(by), new Request.Ask(true, new Query.Whole()), values);
  }

  /** What was assigned, of concurrent assignments each or the last one; empty if nothing was. */
  public R get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<R> getAsync() {
    return encoding.decoded(target.read(new Query.Whole(), values), objects);
  }
}
