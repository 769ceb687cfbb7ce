/** A long run on narrow links with a datacenter away: {@code osier bench soak}. */
@NullMarked
package io.osier.bench.soak;

import org.jspecify.annotations.NullMarked;
