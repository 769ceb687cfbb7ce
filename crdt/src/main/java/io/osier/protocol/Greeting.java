package io.osier.protocol;

/**
 * The first messages on a connection, by which the client tells its version of the protocol and who
 * it is.
 */
public sealed interface Greeting extends Request {
  /**
   * The first message on a connection. Answered by {@link Reply.Welcome}, or a failure and the end
   * of the connection.
   *
   * @param client the client's name for the server's log; at most 128 bytes
   */
  record Hello(int protocolVersion, String client) implements Greeting {}

  /**
   * The first message on a connection of a user with a password, instead of {@link Hello}. Answered
   * by {@link Reply.Challenge}, or a failure and the end of the connection.
   *
   * @param client see {@link Hello}
   * @param message the client-first-message of SCRAM-SHA-256 (RFC 5802)
   */
  record Login(int protocolVersion, String client, String message) implements Greeting {
    @Override
    public String toString() {
      return "Login of client " + client; // the message must not be logged
    }
  }

  /**
   * The second message of a {@link Login}. Answered by a {@link Reply.Challenge} and then {@link
   * Reply.Welcome}, or by a failure and the end of the connection.
   *
   * @param message the client-final-message
   */
  record Proof(String message) implements Greeting {
    @Override
    public String toString() {
      return "Proof";
    }
  }
}
