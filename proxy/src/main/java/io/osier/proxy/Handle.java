package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;

/** A handle of an object or of a map's field, with the call that most types have. */
abstract class Handle {
  final ObjectRef target;

  Handle(ObjectRef target) {
    this.target = target;
  }

  /**
   * Resets the object or field to a new one, as far as this session's datacenter has seen it:
   * concurrent updates stay.
   */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
