package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.words.Words;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.util.List;
import java.util.Optional;

/** The keyspace that a session's commands are about: the one that was chosen, or the only one. */
final class ChosenKeyspace {
  private final OsierClient client;
  private final Session session;
  private Optional<String> name;

  ChosenKeyspace(OsierClient client, Session session, Optional<String> name) {
    this.client = client;
    this.session = session;
    this.name = name;
  }

  List<String> all() {
    return client.keyspaces();
  }

  /** The one that was chosen, or that a command has found to be the only one. */
  Optional<String> name() {
    return name;
  }

  Optional<String> nameOrOnly() {
    return name.or(this::only);
  }

  private Optional<String> only() {
    List<String> names = all();
    return names.size() == 1 ? Optional.of(names.getFirst()) : Optional.empty();
  }

  /** Chooses one; UNKNOWN_KEYSPACE if it is not there. */
  void choose(String other) {
    List<String> names = all();
    if (!names.contains(other)) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + other + "'; there are " + names);
    }
    name = Optional.of(other);
  }

  /** Where commands go; chooses the only one. */
  Keyspace keyspace() {
    if (name.isEmpty()) {
      name = only();
    }
    return session.keyspace(
        name.orElseThrow(
            () ->
                Words.bad(
                    "which keyspace? --keyspace NAME or the command 'use NAME' chooses one of "
                        + all())));
  }
}
