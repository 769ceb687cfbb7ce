/**
 * Sample programs of causal keyspaces, which run against three datacenters and check themselves.
 */
@NullMarked
package io.osier.bench.samples;

import org.jspecify.annotations.NullMarked;
