/**
 * The partition's border: what comes in ({@code Input}), what goes out ({@code Effects}), what time
 * it is ({@code Now}) and its settings. Data alone; whoever runs a partition needs no more than
 * this.
 */
@NullMarked
package io.osier.datacenter.partition.machine;

import org.jspecify.annotations.NullMarked;
