package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.words.Words;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.util.List;
import java.util.Optional;

/**
 * The keyspace of a session's commands: the chosen one, or the only one there is. Not thread-safe.
 */
final class ChosenKeyspace {
  private final OsierClient client;
  private final Session session;
  private Optional<String> name;

  ChosenKeyspace(OsierClient client, Session session, Optional<String> name) {
    this.client = client;
    this.session = session;
    this.name = name;
  }

  /** Returns the keyspaces that the datacenter told last. */
  List<String> told() {
    return client.keyspaces();
  }

  /** Asks the datacenter for its present keyspaces, with those created since it told last. */
  List<String> all() {
    return CliAdmin.joined(client.keyspacesAsync());
  }

  /** Returns the chosen keyspace, or the one that a command has found to be the only one. */
  Optional<String> name() {
    return name;
  }

  Optional<String> nameOrOnly() {
    return name.or(() -> only(told()));
  }

  private static Optional<String> only(List<String> names) {
    return names.size() == 1 ? Optional.of(names.getFirst()) : Optional.empty();
  }

  /** Chooses a keyspace; throws UNKNOWN_KEYSPACE if it does not exist. */
  void choose(String other) {
    List<String> names = all();
    if (!names.contains(other)) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + other + "'; there are " + names);
    }
    name = Optional.of(other);
  }

  /** Returns the keyspace of commands; chooses it if it is the only one. */
  Keyspace keyspace() {
    if (name.isEmpty()) {
      List<String> names = all();
      name = only(names);
      if (name.isEmpty()) {
        throw Words.bad(
            "which keyspace? --keyspace NAME or the command 'use NAME' chooses one of " + names);
      }
    }
    return session.keyspace(name.get());
  }
}
