package io.osier.proxy;

import io.osier.proxy.objects.CheckedCodec;
import io.osier.proxy.objects.ObjectRef;

/**
 * A register of objects of one class. Errors as of {@link RegisterHandle}; besides,
 * INVALID_ARGUMENT for an object that its codec cannot encode, and MALFORMED for a value that it
 * cannot decode. Cheap; thread-safe.
 */
public final class TypedRegister<T> extends LastWriterCalls<T> {
  TypedRegister(ObjectRef target, CheckedCodec<T> encoding) {
    super(target, encoding);
  }
}
