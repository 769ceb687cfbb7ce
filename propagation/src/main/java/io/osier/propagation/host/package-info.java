/**
 * What the streams of a partition are given by whoever runs them: the objects ({@code
 * ObjectAccess}), what a store kept of their progress, bounds and times, the way out and its room;
 * and what they count. Pure.
 */
@NullMarked
package io.osier.propagation.host;

import org.jspecify.annotations.NullMarked;
