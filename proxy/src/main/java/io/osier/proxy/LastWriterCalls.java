package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The calls of a register in which the last assignment wins.
 *
 * @param <T> the type of what is assigned: a value, or an object of one class
 */
abstract class LastWriterCalls<T> extends RegisterCalls<T, Optional<Value>, Optional<T>> {
  LastWriterCalls(ObjectRef target, CheckedCodec<T> encoding) {
    super(
        target,
        encoding,
        reading -> ((Reading.Single) reading).value(),
        value -> value.map(encoding::object));
  }

  /**
   * Assigns a value if the register holds the expected one, as this session's datacenter sees it at
   * the moment of the assignment. Two datacenters may both do so at the same time; then one of the
   * two values wins, as with any two concurrent assignments. In a transaction the expected value is
   * compared with the snapshot. Objects are compared in their encoded form.
   *
   * @return whether the value was assigned
   */
  public boolean assignIf(T expected, T value) {
    return Calls.join(assignIfAsync(expected, value));
  }

  /** As {@link #assignIf}. */
  public CompletableFuture<Boolean> assignIfAsync(T expected, T value) {
    return CheckedCodec.call(
        () -> encoding.elements(Arrays.asList(expected, value)),
        both ->
            assignIf(Optional.of(present(both.getFirst(), "what is expected")), both.getLast()));
  }

  /** As {@link #assignIf}, if the register holds nothing. */
  public boolean assignIfAbsent(T value) {
    return Calls.join(assignIfAbsentAsync(value));
  }

  /** As {@link #assignIfAbsent}. */
  public CompletableFuture<Boolean> assignIfAbsentAsync(T value) {
    return CheckedCodec.call(
        () -> encoding.value(value), encoded -> assignIf(Optional.empty(), encoded));
  }

  private CompletableFuture<Boolean> assignIf(Optional<Value> expected, Value value) {
    return target.updateIf(new Reading.Single(expected), new Operation.Assign(value));
  }
}
