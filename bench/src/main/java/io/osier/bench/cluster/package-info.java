/** Datacenter processes on loopback with emulated links, and loads that remember their updates. */
@NullMarked
package io.osier.bench.cluster;

import org.jspecify.annotations.NullMarked;
