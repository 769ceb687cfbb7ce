/**
 * How updates travel between datacenters: streams, rounds, catch-up and healing as pure state
 * machines, and their Netty transport beside them in {@code transport}.
 */
@NullMarked
package io.osier.propagation;

import org.jspecify.annotations.NullMarked;
