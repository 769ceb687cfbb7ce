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
   * The same register, of objects of a class, as the client keeps them ({@link
   * OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <T> TypedRegister<T> as(Class<T> type) {
    return as(target.values().codec(type));
  }

  /** The same register, of objects that a codec makes. */
  public <T> TypedRegister<T> as(ValueCodec<T> codec) {
    return new TypedRegister<>(target, new CheckedCodec<>(codec));
  }

  /** Assigns a string, in the place of what is there. */
  public void assign(String value) {
    assign(Value.of(value));
  }

  /** Assigns a long, in the place of what is there. */
  public void assign(long value) {
    assign(Value.of(value));
  }

  /** As {@link #getAndAssign}, of a string. */
  public Optional<Value> getAndAssign(String value) {
    return getAndAssign(Value.of(value));
  }

  /** As {@link #getAndAssign}, of a long. */
  public Optional<Value> getAndAssign(long value) {
    return getAndAssign(Value.of(value));
  }
}
