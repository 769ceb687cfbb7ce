package io.osier.proxy.connection;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Network;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Timers;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of one channel: the client greets the datacenter, and logs in if it has a user; the
 * datacenter accepts or refuses the client. For the channel's event loop only; slow work is done by
 * another thread.
 */
final class ClientHandshake {
  private final String name;
  private final Network network;
  private final RequestChannel channel;

  /** The login, also after its end; null if the client does not log in. */
  private final @Nullable ScramLogin login;

  ClientHandshake(Dialling dialling, Timers timers, Network network, RequestChannel channel) {
    this.name = dialling.name();
    this.login =
        dialling.user().map(u -> new ScramLogin(u, timers.newId().toString())).orElse(null);
    this.network = network;
    this.channel = channel;
  }

  /** Begins the greeting, when the channel has been opened. */
  void begin() {
    ScramLogin user = login;
    if (user == null) {
      channel.greet(new Greeting.Hello(Request.PROTOCOL_VERSION, name));
    } else {
      apart(() -> channel.greet(new Greeting.Login(Request.PROTOCOL_VERSION, name, user.first())));
    }
  }

  /** Handles a reply of the datacenter to the greeting. */
  void heard(Reply reply) {
    ScramLogin user = login;
    switch (reply) {
      case Reply.Welcome welcome -> {
        if (user != null && !user.isProven()) {
          channel.refused(
              ErrorCode.NOT_AUTHENTICATED,
              "the other end skipped the proof that it knows this user's password, so it is not"
                  + " trusted: check the endpoint's address");
        } else {
          channel.welcomed(welcome);
        }
      }
      case Reply.Challenge challenge -> {
        if (user == null) {
          channel.close();
        } else {
          challenged(user, challenge.message());
        }
      }
      case Reply.Failure failure -> channel.refused(failure.code(), why(failure));
      default -> channel.close();
    }
  }

  private static String why(Reply.Failure failure) {
    return failure.code() == ErrorCode.VERSION_MISMATCH
        ? ("the datacenter is too old for this client, which speaks version %s of the"
                + " client protocol: datacenters are upgraded before clients (it says: %s)")
            .formatted(Request.PROTOCOL_VERSION, failure.message())
        : failure.message();
  }

  /** Handles the datacenter's part of a login. */
  private void challenged(ScramLogin user, String message) {
    if (user.isToAnswer()) {
      apart(() -> channel.greet(new Greeting.Proof(user.answer(message))));
      return;
    }
    try {
      user.verify(message);
    } catch (OsierException e) {
      channel.refused(e.code(), e.reason());
    }
  }

  /** Runs slow work outside of the event loop: asking for the password, and hashing it. */
  private void apart(Runnable part) {
    network.apart(
        "osier-client-login",
        () -> {
          try {
            CallbackThread.bring(false, part); // calls wait for the connection
          } catch (OsierException e) {
            channel.refused(e.code(), e.reason());
          } catch (RuntimeException e) {
            // The exception is the password supplier's; its message may contain secrets.
            channel.refused(
                ErrorCode.NOT_AUTHENTICATED,
                "there is no password: its supplier failed with " + e.getClass().getName());
          }
        });
  }
}
