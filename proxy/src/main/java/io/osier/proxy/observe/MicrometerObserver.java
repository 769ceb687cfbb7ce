package io.osier.proxy.observe;

import static io.osier.core.Present.present;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.osier.core.OsierException;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.OutcomeUnknownException;
import java.util.Optional;

/**
 * Makes a Micrometer observation of each call; the handlers of its registry make a timer, a span,
 * or both of it. The program must bring Micrometer along ({@code
 * io.micrometer:micrometer-observation}). An observation, and so a trace, that is current in the
 * thread that makes a call becomes the parent of the call's observation. Thread-safe.
 *
 * <p>{@code osier.client.call} has the key values {@code osier.keyspace}, {@code osier.kind} (read
 * or update), {@code osier.datacenter} (or none), {@code osier.outcome} (done, failed or unknown)
 * and {@code osier.error} (the code, or none).
 */
public final class MicrometerObserver implements ClientObserver {
  public static final String NAME = "osier.client.call";

  private static final String NONE_VALUE = KeyValue.NONE_VALUE;

  private final ObservationRegistry registry;

  /** Makes an observer that uses a registry. */
  public MicrometerObserver(ObservationRegistry registry) {
    this.registry = present(registry, "a registry");
  }

  @Override
  public Observed begins(String keyspace, boolean update) {
    Observation observation =
        Observation.createNotStarted(NAME, registry)
            .contextualName("osier " + (update ? "update" : "read"))
            .lowCardinalityKeyValue("osier.keyspace", keyspace)
            .lowCardinalityKeyValue("osier.kind", update ? "update" : "read")
            .start();
    return (datacenter, error) -> ended(observation, datacenter, error);
  }

  private static void ended(
      Observation observation, Optional<String> datacenter, Optional<OsierException> error) {
    String outcome =
        error.isEmpty()
            ? "done"
            : error.get() instanceof OutcomeUnknownException ? "unknown" : "failed";
    observation
        .lowCardinalityKeyValue("osier.datacenter", datacenter.orElse(NONE_VALUE))
        .lowCardinalityKeyValue("osier.outcome", outcome)
        .lowCardinalityKeyValue("osier.error", error.map(e -> e.code().name()).orElse(NONE_VALUE));
    error.ifPresent(observation::error);
    observation.stop();
  }
}
