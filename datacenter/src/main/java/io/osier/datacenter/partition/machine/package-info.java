/**
 * The partition's border: inputs ({@code Input}), effects ({@code Effects}), the time ({@code Now})
 * and settings; a {@code Machine} takes inputs and gives effects. Who runs a partition needs no
 * more than this.
 */
@NullMarked
package io.osier.datacenter.partition.machine;

import org.jspecify.annotations.NullMarked;
