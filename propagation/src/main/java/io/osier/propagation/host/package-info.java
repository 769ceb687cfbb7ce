/**
 * Defines what the streams of a partition get from the code that runs them: the objects ({@code
 * ObjectAccess}), what a store kept of their progress, bounds and times, the sink for frames and
 * its windows; and what they count. Pure.
 */
@NullMarked
package io.osier.propagation.host;

import org.jspecify.annotations.NullMarked;
