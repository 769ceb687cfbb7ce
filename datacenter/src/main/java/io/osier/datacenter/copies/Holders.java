package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.datacenter.forward.ForwardingHost;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Copies} needs of its datacenter: the holders of keyspaces, and questions to them.
 * Thread-safe.
 */
public interface Holders {
  /**
   * Returns a token of the present placement; another object once the holders of any keyspace may
   * have changed. Cheap.
   */
  Object placed();

  /**
   * Returns the holders of a keyspace; empty if no copies are made of it, for example as it is held
   * here.
   */
  Optional<ForwardingHost.Held> heldElsewhere(String keyspace);

  /**
   * Asks a datacenter.
   *
   * @param content writes the question after the beginning that all questions have
   * @param answer takes the answer, once, now or later; null if there is none
   */
  void ask(
      String dc,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer);

  /** Returns the age up to which a copy may answer while no holder can be asked; 0 for never. */
  Duration staleReads(String keyspace);

  /** Returns whether a datacenter can be asked. */
  boolean mayAsk(String dc);

  /** Returns the round trip to a datacenter, in milliseconds; 0 if it was not measured. */
  double roundTripMillis(String dc);

  /** Returns what forwarded answers and copies have shown of a partition. */
  VersionVector shown(String keyspace, int partition);

  /** Notes that copies may show these updates of a partition. */
  void shows(String keyspace, int partition, VersionVector more);

  void later(Runnable task, long millis);
}
