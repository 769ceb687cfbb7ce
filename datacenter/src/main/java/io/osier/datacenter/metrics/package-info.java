/**
 * A datacenter's metrics as it published them last: /metrics, {@code stat}, the dashboard and
 * {@code top} all read {@link io.osier.datacenter.metrics.Snapshot}, and {@link
 * io.osier.datacenter.metrics.MetricTable} lists every metric that is made from it.
 */
@NullMarked
package io.osier.datacenter.metrics;

import org.jspecify.annotations.NullMarked;
