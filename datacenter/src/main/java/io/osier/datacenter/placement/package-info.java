/** How much keyspaces are asked for here, whose holders follow that. */
@NullMarked
package io.osier.datacenter.placement;

import org.jspecify.annotations.NullMarked;
