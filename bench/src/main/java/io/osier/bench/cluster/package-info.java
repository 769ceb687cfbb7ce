/** Datacenter processes on loopback with emulated links, and a load that keeps account. */
package io.osier.bench.cluster;
