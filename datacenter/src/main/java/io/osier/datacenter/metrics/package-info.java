/**
 * What a datacenter is doing, as it was published last: {@link
 * io.osier.datacenter.metrics.Snapshot} is what /metrics, {@code stat}, the page and {@code top}
 * all read, and {@link io.osier.datacenter.metrics.MetricTable} is every metric that is made of it.
 */
@NullMarked
package io.osier.datacenter.metrics;

import org.jspecify.annotations.NullMarked;
