/**
 * Traces of single updates (OpenTelemetry), from a client's request until they are visible at each
 * datacenter. {@link io.osier.datacenter.trace.Traces} is the entry point; only {@code
 * OtlpExporter} needs more than OpenTelemetry's API.
 */
@NullMarked
package io.osier.datacenter.trace;

import org.jspecify.annotations.NullMarked;
