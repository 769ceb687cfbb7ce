/**
 * The partition's border: what comes in ({@code Input}), what goes out ({@code Effects}), what time
 * it is ({@code Now}) and its settings; {@code Machine} is what takes the one and gives the other.
 * Whoever runs a partition needs no more than this.
 */
@NullMarked
package io.osier.datacenter.partition.machine;

import org.jspecify.annotations.NullMarked;
