/**
 * Treats time as data: callers' limits ({@code TimeLimit}), the pauses between attempts ({@code
 * Retry}, {@code BackOff}), timestamps ({@code HybridClock}) and clocks that tests can set. Nothing
 * here starts a timer or a thread.
 */
@NullMarked
package io.osier.core.time;

import org.jspecify.annotations.NullMarked;
