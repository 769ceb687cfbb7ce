/**
 * What a datacenter is doing, as it was published last: {@link
 * io.osier.datacenter.figures.Snapshot} is what /metrics, {@code stat}, the page and {@code top}
 * all read, and {@link io.osier.datacenter.figures.MetricTable} is every metric that is made of it.
 */
@NullMarked
package io.osier.datacenter.figures;

import org.jspecify.annotations.NullMarked;
