/** Records what clients of a causal keyspace did and saw, for checkers of causal consistency. */
package io.osier.bench.history;
