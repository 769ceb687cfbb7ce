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
 * The calls that all registers share.
 *
 * @param <T> the type of what is assigned: a value, or an object of one class
 * @param <V> the encoded form of what is read
 * @param <R> the form in which reads return it: empty if nothing was assigned
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

  /**
   * Assigns a value or an object, which replaces all assignments that this session's datacenter has
   * seen.
   */
  public void assign(T value) {
    Calls.join(assignAsync(value));
  }

  /** As {@link #assign}. */
  public CompletableFuture<Void> assignAsync(T value) {
    return CheckedCodec.call(
        () -> encoding.value(value), encoded -> target.update(new Operation.Assign(encoded)));
  }

  /**
   * Assigns a value or an object, and returns what it replaced, as this session's datacenter saw
   * it; empty if nothing was assigned before. If a replaced object cannot be decoded the call
   * fails, although the new one is assigned.
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

  /**
   * Reads what was assigned: the last of concurrent assignments, or all of them in a register that
   * keeps them; empty if nothing was assigned.
   */
  public R get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<R> getAsync() {
    return encoding.decoded(target.read(new Query.Whole(), values), objects);
  }
}
