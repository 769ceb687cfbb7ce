package io.osier.spring;

import io.osier.proxy.OsierClient;

/**
 * A bean that changes how the client is built, after the settings {@code osier.*}: what these do
 * not have, such as {@link OsierClient.Builder#cache} or {@link OsierClient.Builder#traces}.
 */
@FunctionalInterface
public interface OsierClientCustomizer {
  /** Changes the settings of a client that is about to be built. */
  void customize(OsierClient.Builder builder);
}
