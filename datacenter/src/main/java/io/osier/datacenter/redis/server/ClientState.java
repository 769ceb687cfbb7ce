package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The client of a connection: its user, what it has said of itself, and what it has chosen. Used by
 * the channel's loop only, except for what CLIENT LIST shows, which any thread may read.
 */
final class ClientState {
  final Channel channel;
  final ServerState server;
  final ClientRequests requests;
  final long id;
  final long sinceMillis;
  volatile int database;
  volatile boolean resp3;
  volatile String name = "";
  volatile String library = "";
  volatile String libraryVersion = "";

  /** The user's name; empty while nobody has logged in. */
  volatile String user = "";

  volatile String lastCommand = "NULL";
  volatile long lastMillis;

  ClientState(Channel channel, ServerState server, ClientRequests requests) {
    this.channel = channel;
    this.server = server;
    this.requests = requests;
    this.id = server.nextId();
    this.sinceMillis = server.millis();
    this.lastMillis = sinceMillis;
  }

  // ---------------------------------------------------------------- what it has chosen

  Database database() {
    return server.database(database);
  }

  /** Returns the keyspace of the selected database, to which channels and rights belong. */
  String keyspace() {
    return database().keyspace();
  }

  // ---------------------------------------------------------------- who it is

  Optional<User> present() {
    return requests.identity().in(requests.access().users());
  }

  /** Returns the right to all keys with a prefix, if the user lacks it; null if it has it. */
  @Nullable Grant missing(Grant.Right right, String keyspace, byte[] prefix) {
    int length = Math.min(prefix.length, Key.LENGTH_MAX);
    Grant needed =
        length == 0
            ? Grant.on(right, keyspace)
            : Grant.on(right, keyspace, Key.of(prefix, 0, length));
    return present().filter(u -> u.may(needed)).isPresent() ? null : needed;
  }

  /** Notes in the audit log that a right is missing; returns the error for the client. */
  RedisException refused(String command, Grant missing) {
    noteRefused(command, missing);
    return new RedisException(RedisErrors.of(AccessControl.forbidden(missing)).text());
  }

  private void noteRefused(String command, Grant missing) {
    requests
        .access()
        .audit()
        .refused(user, AccessControl.address(channel.remoteAddress()), command, missing);
  }

  void administered(String command) {
    requests
        .access()
        .audit()
        .administered(user, AccessControl.address(channel.remoteAddress()), command, "done");
  }

  void checkAdmin(String command) {
    String error = adminError(command);
    if (error != null) {
      throw new RedisException(error);
    }
  }

  /**
   * Returns the error for a user without the right {@code admin *}, and notes it in the audit log;
   * null for a user that has it.
   */
  @Nullable String adminError(String command) {
    Users users = requests.access().users();
    Grant admin = Grant.onAll(Grant.Right.ADMIN);
    if (users.isOpen() || requests.identity().in(users).filter(u -> u.may(admin)).isPresent()) {
      return null;
    }
    noteRefused(command.toLowerCase(Locale.ROOT), admin);
    return "NOPERM User "
        + user
        + " has no permissions to run the '"
        + command.toLowerCase(Locale.ROOT)
        + "' command: the right admin * is missing";
  }

  // ---------------------------------------------------------------- what others are shown

  void count() {
    lastMillis = server.millis();
    server.count();
  }

  String address() {
    return address(channel.remoteAddress());
  }

  String localAddress() {
    return address(channel.localAddress());
  }

  private static String address(SocketAddress of) {
    return of instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress().getHostAddress() + ":" + inet.getPort()
        : String.valueOf(of);
  }
}
