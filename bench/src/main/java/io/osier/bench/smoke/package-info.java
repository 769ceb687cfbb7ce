/** One short run of real processes with several loads at once, each of which is checked. */
@NullMarked
package io.osier.bench.smoke;

import org.jspecify.annotations.NullMarked;
