/** Measures causal keyspaces beside session keyspaces. */
@NullMarked
package io.osier.bench.causal;

import org.jspecify.annotations.NullMarked;
