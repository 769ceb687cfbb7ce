/** How throughput, memory, starts and links grow: osier bench growth. */
@NullMarked
package io.osier.bench.growth;

import org.jspecify.annotations.NullMarked;
