package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.concurrent.CompletableFuture;

/** A flag. Cheap; thread-safe. */
public final class FlagHandle extends Handle {
  FlagHandle(ObjectRef target) {
    super(target);
  }

  /** Enables or disables the flag. */
  public void set(boolean enabled) {
    Calls.join(setAsync(enabled));
  }

  /** As {@link #set}. */
  public CompletableFuture<Void> setAsync(boolean enabled) {
    return target.update(new Operation.SetFlag(enabled));
  }

  /** Enables or disables the flag, and tells whether it was enabled, as this datacenter saw it. */
  public boolean getAndSet(boolean enabled) {
    return Calls.join(getAndSetAsync(enabled));
  }

  /** As {@link #getAndSet}. */
  public CompletableFuture<Boolean> getAndSetAsync(boolean enabled) {
    return target.update(
        new Operation.SetFlag(enabled),
        new Request.Ask(true, new Query.Whole()),
        r -> ((Reading.Flag) r).value());
  }

  /** Whether it is enabled. */
  public boolean get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Boolean> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Flag) r).value());
  }
}
