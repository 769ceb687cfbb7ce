package io.osier.datacenter.config;

import io.osier.core.trace.TraceSample;
import java.net.URI;
import java.util.Optional;

/**
 * Which updates are followed by traces, and where the traces go.
 *
 * @param sample which are
 * @param endpoint where spans are sent by OTLP over HTTP; there if any update is followed
 * @param keys whether spans name the objects' keys
 */
public record TraceSettings(TraceSample sample, Optional<URI> endpoint, boolean keys) {
  /** Nothing is followed. */
  public static final TraceSettings OFF =
      new TraceSettings(TraceSample.NONE, Optional.empty(), false);
}
