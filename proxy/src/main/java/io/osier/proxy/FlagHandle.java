package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;

/**
 * A flag that is off until it is set. Cheap; thread-safe.
 *
 * <pre>{@code
 * shop.flag("seen:ada:42").set(true);
 * boolean wasOn = shop.flag("seen:ada:42").getAndSet(false);
 * }</pre>
 *
 * <p>Of concurrent changes at two datacenters enabling wins; in a flag that {@link
 * ObjectSpace#disableWinsFlag} makes, disabling wins. Calls fail with WRONG_TYPE if the key holds
 * another type.
 */
public final class FlagHandle extends Handle {
  FlagHandle(ObjectRef target) {
    super(target);
  }

  /** Turns the flag on or off. */
  public void set(boolean enabled) {
    Calls.join(setAsync(enabled));
  }

  /** As {@link #set}. */
  public CompletableFuture<Void> setAsync(boolean enabled) {
    return target.update(new Operation.SetFlag(enabled));
  }

  /**
   * Turns the flag on or off, and returns whether it was on, as this session's datacenter saw it.
   */
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

  /**
   * Returns whether the flag is on, as this session's datacenter sees it; false if there is no such
   * flag.
   */
  public boolean get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Boolean> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Flag) r).value());
  }
}
