/** Kills datacenters under load, and looks for what they confirmed. */
package io.osier.bench.crash;
