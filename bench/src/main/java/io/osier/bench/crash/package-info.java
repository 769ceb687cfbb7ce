/** Kills and upgrades datacenters under load, and looks for what they confirmed. */
@NullMarked
package io.osier.bench.crash;

import org.jspecify.annotations.NullMarked;
