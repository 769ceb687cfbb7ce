/** Records what clients of a causal keyspace did and saw, for checkers of causal consistency. */
@NullMarked
package io.osier.bench.history;

import org.jspecify.annotations.NullMarked;
