package io.osier.datacenter.frontend;

import io.netty.channel.Channel;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.ScramLogin;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Logs one client in: it names its user and proves that with a password, or shows a certificate, or
 * is the default user. For the connection's loop only.
 */
final class ClientLogin {
  private final AccessControl access;
  private final Channel channel;

  /** A login that has begun and not ended; null otherwise. */
  private @Nullable ScramLogin login;

  /** The name that the client gives itself. */
  private String client = "";

  private int version;

  ClientLogin(AccessControl access, Channel channel) {
    this.access = access;
    this.channel = channel;
  }

  /**
   * Takes the next message of the greeting.
   *
   * @param answers takes an answer to send before the welcome
   * @return the identity of the client once it is known; empty if a further message must follow
   * @throws OsierException if the login is refused, with the reason
   */
  Optional<Identity> heard(Request request, Consumer<Reply> answers) {
    ScramLogin begun = login;
    if (begun == null && request instanceof Greeting.Hello hello) {
      begin(hello.protocolVersion(), hello.client());
      return Optional.of(
          access.withoutPassword(TlsName.ofOtherEnd(channel), channel.remoteAddress(), client));
    }
    if (begun == null && request instanceof Greeting.Login first) {
      begin(first.protocolVersion(), first.client());
      answers.accept(challenge(first.message()));
      return Optional.empty();
    }
    if (begun != null && request instanceof Greeting.Proof last) {
      return Optional.of(judge(begun, last.message(), answers));
    }
    throw new OsierException(
        ErrorCode.MALFORMED, "the first message must be Hello, or Login and then Proof");
  }

  /** Returns the version of the client protocol that the client speaks; 0 before its greeting. */
  int version() {
    return version;
  }

  private void begin(int version, String name) {
    client = name;
    this.version = version;
    if (version < Request.PROTOCOL_VERSION_MIN || version > Request.PROTOCOL_VERSION) {
      throw new OsierException(
          ErrorCode.VERSION_MISMATCH,
          "client protocol "
              + version
              + " is not one of "
              + Request.PROTOCOL_VERSION_MIN
              + " to "
              + Request.PROTOCOL_VERSION
              + ", which this datacenter speaks");
    }
  }

  private Reply challenge(String message) {
    ScramLogin begun = access.begin();
    String challenge = begun.challenge(message);
    access.checkPause(begun.claimed(), channel.remoteAddress());
    login = begun;
    return new Reply.Challenge(challenge);
  }

  private Identity judge(ScramLogin of, String message, Consumer<Reply> answers) {
    String user = of.claimed();
    return switch (of.verdict(message)) {
      case ScramLogin.Verdict.Accepted a -> {
        access.succeeded(user, channel.remoteAddress(), client);
        answers.accept(new Reply.Challenge(a.proof()));
        login = null;
        yield a.identity();
      }
      case ScramLogin.Verdict.Refused r -> throw access.failed(user, channel.remoteAddress());
    };
  }
}
