/** Measures causal keyspaces beside session keyspaces. */
package io.osier.bench.causal;
