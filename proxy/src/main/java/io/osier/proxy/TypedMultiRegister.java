package io.osier.proxy;

import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;
import java.util.List;

/**
 * A register of objects of one class that keeps the objects of all concurrent assignments. Errors
 * as of {@link TypedRegister}. Cheap; thread-safe.
 */
public final class TypedMultiRegister<T> extends RegisterCalls<T, List<Value>, List<T>> {
  TypedMultiRegister(ObjectRef target, CheckedCodec<T> encoding) {
    super(target, encoding, reading -> ((Reading.Many) reading).values(), encoding::list);
  }
}
