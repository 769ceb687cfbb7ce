/** How long the distribution takes to start. */
@NullMarked
package io.osier.bench.start;

import org.jspecify.annotations.NullMarked;
