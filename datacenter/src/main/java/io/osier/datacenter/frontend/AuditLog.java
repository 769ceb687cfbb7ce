package io.osier.datacenter.frontend;

import io.osier.core.Grant;
import io.osier.datacenter.metrics.report.JsonObject;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notes who logged in, who was refused, and what was administered: a JSON object each, to the
 * logger {@code io.osier.audit}, which the server leads to a file of its own ({@code
 * osier.audit.file}). Nothing in it is secret. What strangers can cause is noted at most {@link
 * #LINES_MAX} times a second, and then how much was left out; changes are always noted.
 * Thread-safe.
 */
public final class AuditLog {
  /** The logger's name. */
  public static final String LOGGER = "io.osier.audit";

  /** So many lines a second at most of what strangers can cause. */
  static final int LINES_MAX = 200;

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);

  private final String dc;
  private final LineLimit lines = new LineLimit(LINES_MAX);

  public AuditLog(String dc) {
    this.dc = dc;
  }

  /**
   * Somebody has logged in.
   *
   * @param by password or certificate
   * @param client as it calls itself
   */
  void loggedIn(String user, String address, String by, String client) {
    if (hasRoom()) {
      write(
          line("login")
              .put("user", user)
              .put("address", address)
              .put("by", by)
              .put("client", client));
    }
  }

  void loginFailed(String user, String address, String why) {
    if (hasRoom()) {
      write(line("login-failed").put("user", user).put("address", address).put("why", why));
    }
  }

  /** A request was refused, because a right is missing. */
  public void refused(String user, String address, String request, Grant missing) {
    if (hasRoom()) {
      write(
          line("refused")
              .put("user", user)
              .put("address", address)
              .put("request", request)
              .put("missing", missing.toString()));
    }
  }

  /**
   * Something was administered, or was to be.
   *
   * @param command what was done, without secrets
   * @param outcome done, or why it was not
   */
  public void administered(String user, String address, String command, String outcome) {
    write(
        line("admin")
            .put("user", user)
            .put("address", address)
            .put("command", command)
            .put("outcome", outcome));
  }

  /** How many lines were left out because strangers caused so many. */
  public long leftOut() {
    return lines.leftOutEver();
  }

  private JsonObject line(String event) {
    return new JsonObject().put("time", Instant.now().toString()).put("event", event).put("dc", dc);
  }

  private boolean hasRoom() {
    if (!LOG.isInfoEnabled() || !lines.tryPass(System.nanoTime())) {
      return false;
    }
    int lost = lines.takeLeftOut();
    if (lost > 0) {
      write(line("left-out").put("lines", lost));
    }
    return true;
  }

  private static void write(JsonObject line) {
    LOG.info("{}", line);
  }
}
