package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.datacenter.forward.ForwardingHost;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What {@link Copies} has of the world: who holds what, and how they are asked. Thread-safe. */
public interface Holders {
  /** Another object once somebody else may hold something. Cheap. */
  Object placed();

  /** Who holds a keyspace; empty where no copies are made of it, as where it is held here. */
  Optional<ForwardingHost.Held> heldElsewhere(String keyspace);

  /**
   * Asks a datacenter.
   *
   * @param content behind what every question begins with
   * @param answer takes the answer, once, now or later; null if there is none
   */
  void ask(
      String dc,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer);

  /** How old a copy may be that answers while none of the holders can be asked; 0 for none. */
  Duration staleReads(String keyspace);

  /** Whether a datacenter can be asked. */
  boolean mayAsk(String dc);

  /** The way to a datacenter and back, as far as that is known. */
  double roundTripMillis(String dc);

  /** What was shown of a partition, by forwarded answers and by copies. */
  VersionVector shown(String keyspace, int partition);

  void shows(String keyspace, int partition, VersionVector more);

  void later(Runnable task, long millis);
}
