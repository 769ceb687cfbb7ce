package io.osier.spring;

import java.util.Map;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the datacenters are, if not where {@code osier.endpoints} says: as a bean, or of an {@code
 * OsierContainer} with {@code @ServiceConnection}.
 */
@FunctionalInterface
public interface OsierConnectionDetails extends ConnectionDetails {
  /** The datacenters: the name of each, and its address for clients as HOST:PORT; at least one. */
  Map<String, String> endpoints();
}
