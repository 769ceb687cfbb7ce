/** Datacenter processes on loopback with emulated links, and a load that keeps account. */
@NullMarked
package io.osier.bench.cluster;

import org.jspecify.annotations.NullMarked;
