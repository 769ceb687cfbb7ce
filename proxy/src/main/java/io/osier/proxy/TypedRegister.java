package io.osier.proxy;

import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;

/**
 * A register of objects of one class. Errors as of {@link RegisterHandle}; besides, calls fail with
 * INVALID_ARGUMENT for an object that the codec cannot encode, and with MALFORMED for a value that
 * the codec cannot decode. Cheap; thread-safe.
 */
public final class TypedRegister<T> extends LastWriterCalls<T> {
  TypedRegister(ObjectRef target, CheckedCodec<T> encoding) {
    super(target, encoding);
  }
}
