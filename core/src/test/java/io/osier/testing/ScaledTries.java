package io.osier.testing;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyAttributes;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Tries a property that names its number of tries in proportion to the others: that often if {@code
 * jqwik.tries.default} is 300, a fifth of that if it is 60. Jqwik finds this class by {@code
 * META-INF/services}.
 */
public final class ScaledTries implements AroundPropertyHook {
  private static final int WHOLE = 300;
  private static final int DEFAULT = Integer.getInteger("jqwik.tries.default", WHOLE);

  @Override
  public PropagationMode propagateTo() {
    return PropagationMode.ALL_DESCENDANTS;
  }

  @Override
  public PropertyExecutionResult aroundProperty(
      PropertyLifecycleContext context, PropertyExecutor property) {
    PropertyAttributes attributes = context.attributes();
    attributes.tries().ifPresent(tries -> attributes.setTries(scaled(tries)));
    return property.execute();
  }

  /** Returns a number of tries in proportion to the default number; 1 at least. */
  public static int scaled(int tries) {
    return scaled(tries, DEFAULT);
  }

  /** As {@link #scaled(int)}, given the default number of tries; 1 at least. */
  static int scaled(int tries, int ofOthers) {
    return Math.clamp((long) tries * ofOthers / WHOLE, 1, Integer.MAX_VALUE);
  }
}
