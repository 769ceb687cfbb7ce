/**
 * Traces of single updates, from a client's request until they are visible at each datacenter
 * (OpenTelemetry): {@link io.osier.datacenter.trace.Traces} is where a datacenter's begin, and only
 * {@code OtlpExporter} needs more than OpenTelemetry's API.
 */
@NullMarked
package io.osier.datacenter.trace;

import org.jspecify.annotations.NullMarked;
