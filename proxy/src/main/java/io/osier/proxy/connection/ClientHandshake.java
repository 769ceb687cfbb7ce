package io.osier.proxy.connection;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Network;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Timers;
import org.jspecify.annotations.Nullable;

/**
 * How one channel begins: the client says who it is, with a login if it has one, and the datacenter
 * takes it or does not. Used by the channel's loop; what takes long is done beside it.
 */
final class ClientHandshake {
  /** Hears what becomes of the greeting. */
  interface Outcome {
    /** The next part is to be sent. Called by any thread. */
    void send(Request greeting);

    /** Requests can be sent. */
    void welcomed(Reply.Welcome welcome);

    /** One of the two does not take the other. Called by any thread. */
    void refused(ErrorCode code, @Nullable String message);

    /** What came was no part of a greeting. */
    void meaningless();
  }

  private final String name;
  private final Network network;
  private final Outcome outcome;

  /** The login that is under way, or was; null if nobody logs in. */
  private final @Nullable ScramLogin login;

  ClientHandshake(Dialling dialling, Timers timers, Network network, Outcome outcome) {
    this.name = dialling.name();
    this.login =
        dialling.user().map(u -> new ScramLogin(u, timers.newId().toString())).orElse(null);
    this.network = network;
    this.outcome = outcome;
  }

  /** The channel is there. */
  void begin() {
    ScramLogin user = login;
    if (user == null) {
      outcome.send(new Request.Hello(Request.PROTOCOL_VERSION, name));
    } else {
      apart(() -> outcome.send(new Request.Login(Request.PROTOCOL_VERSION, name, user.first())));
    }
  }

  /** The datacenter has said something. */
  void heard(Reply reply) {
    ScramLogin user = login;
    switch (reply) {
      case Reply.Welcome welcome -> {
        if (user != null && !user.isProven()) {
          outcome.refused(
              ErrorCode.NOT_AUTHENTICATED, "the other end lets anybody in without a proof");
        } else {
          outcome.welcomed(welcome);
        }
      }
      case Reply.Challenge challenge -> {
        if (user == null) {
          outcome.meaningless();
        } else {
          challenged(user, challenge.message());
        }
      }
      case Reply.Failure failure -> outcome.refused(failure.code(), why(failure));
      default -> outcome.meaningless();
    }
  }

  private static String why(Reply.Failure failure) {
    return failure.code() == ErrorCode.VERSION_MISMATCH
        ? "the datacenter is too old for this client, which speaks version "
            + Request.PROTOCOL_VERSION
            + " of the client protocol: datacenters are upgraded before clients (it says: "
            + failure.message()
            + ")"
        : failure.message();
  }

  /** A part of the login has come. */
  private void challenged(ScramLogin user, String message) {
    if (user.isToAnswer()) {
      apart(() -> outcome.send(new Request.Proof(user.answer(message))));
      return;
    }
    try {
      user.verify(message);
    } catch (OsierException e) {
      outcome.refused(e.code(), e.reason());
    }
  }

  /** Does what takes long for a loop: asks for the password, and hashes it. */
  private void apart(Runnable part) {
    network.apart(
        "osier-client-login",
        () -> {
          try {
            CallbackThread.bring(false, part); // calls wait for what it is to bring
          } catch (OsierException e) {
            outcome.refused(e.code(), e.reason());
          } catch (RuntimeException e) {
            // Of the password's supplier, whose message may show what it knows.
            outcome.refused(
                ErrorCode.NOT_AUTHENTICATED,
                "there is no password: its supplier failed with " + e.getClass().getName());
          }
        });
  }
}
