package io.osier.proxy;

import io.osier.core.Value;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.values.ValueCodec;
import java.util.Optional;

/** A register with one value. Cheap; thread-safe. */
public final class RegisterHandle extends LastWriterCalls<Value> {
  RegisterHandle(ObjectRef target) {
    super(target, CheckedCodec.AS_IS);
  }

  /**
   * Returns a handle of the same register for objects of a class, encoded as the client is set to
   * ({@link OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <T> TypedRegister<T> as(Class<T> type) {
    return as(target.values().codec(type));
  }

  /** Returns a handle of the same register for objects that a codec encodes. */
  public <T> TypedRegister<T> as(ValueCodec<T> codec) {
    return new TypedRegister<>(target, new CheckedCodec<>(codec));
  }

  /** Assigns a string, which replaces the present value. */
  public void assign(String value) {
    assign(Value.of(value));
  }

  /** Assigns a long, which replaces the present value. */
  public void assign(long value) {
    assign(Value.of(value));
  }

  /** As {@link #getAndAssign}, with a string. */
  public Optional<Value> getAndAssign(String value) {
    return getAndAssign(Value.of(value));
  }

  /** As {@link #getAndAssign}, with a long. */
  public Optional<Value> getAndAssign(long value) {
    return getAndAssign(Value.of(value));
  }
}
