/**
 * Defines the surroundings of a partition's streams, which the code that runs them provides: the
 * objects ({@code ObjectAccess}), the stored progress, bounds and times, the sink for frames and
 * its windows; and the streams' counts. Pure.
 */
@NullMarked
package io.osier.propagation.host;

import org.jspecify.annotations.NullMarked;
