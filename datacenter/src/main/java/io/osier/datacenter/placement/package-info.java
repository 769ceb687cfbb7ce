/** Measures the load of keyspaces whose holders follow their load. */
@NullMarked
package io.osier.datacenter.placement;

import org.jspecify.annotations.NullMarked;
