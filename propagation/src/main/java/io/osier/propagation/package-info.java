/**
 * Moves updates between datacenters: streams, rounds, catch-up and repair as pure state machines.
 * The connections that carry the frames are in {@code net}.
 */
@NullMarked
package io.osier.propagation;

import org.jspecify.annotations.NullMarked;
