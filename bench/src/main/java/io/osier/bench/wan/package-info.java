/**
 * Emulated wide-area links: a TCP proxy with delay, jitter, bandwidth, cuts and byte counts. The
 * timing is in {@link io.osier.bench.wan.WanDirection} and {@link io.osier.bench.wan.WanQueue},
 * which know no clock and no socket.
 */
@NullMarked
package io.osier.bench.wan;

import org.jspecify.annotations.NullMarked;
