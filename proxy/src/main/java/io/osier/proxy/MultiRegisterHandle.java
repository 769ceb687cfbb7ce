package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import io.osier.proxy.values.ValueCodec;
import java.util.List;
import java.util.function.Function;

/** A register that keeps the values of concurrent assignments. Cheap; thread-safe. */
public final class MultiRegisterHandle extends RegisterCalls<Value, List<Value>, List<Value>> {
  MultiRegisterHandle(ObjectRef target) {
    super(
        target,
        CheckedCodec.AS_IS,
        reading -> ((Reading.Many) reading).values(),
        Function.identity());
  }

  /**
   * Returns a handle of the same register for objects of a class, encoded as the client is set to
   * ({@link OsierClient.Builder#values}).
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if no codec of the class is known
   */
  public <T> TypedMultiRegister<T> as(Class<T> type) {
    return as(target.values().codec(type));
  }

  /** Returns a handle of the same register for objects that a codec encodes. */
  public <T> TypedMultiRegister<T> as(ValueCodec<T> codec) {
    return new TypedMultiRegister<>(target, new CheckedCodec<>(codec));
  }
}
