/**
 * Sample programs of causal keyspaces, which run against three datacenters and check themselves.
 */
package io.osier.bench.samples;
