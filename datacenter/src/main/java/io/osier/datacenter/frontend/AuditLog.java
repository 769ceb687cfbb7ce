package io.osier.datacenter.frontend;

import io.osier.core.Grant;
import io.osier.datacenter.metrics.report.JsonObject;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs who logged in, who was refused, and what was administered: one JSON object each, to the
 * logger {@code io.osier.audit}, which the server writes to a file of its own ({@code
 * osier.audit.file}). No line contains a secret. Lines that strangers can cause are limited to
 * {@link #LINES_MAX} a second, and their number is logged if some were left out; administration is
 * always logged. Thread-safe.
 */
public final class AuditLog {
  /** The logger's name. */
  public static final String LOGGER = "io.osier.audit";

  /** The most lines a second that strangers can cause. */
  static final int LINES_MAX = 200;

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);

  private final String dc;
  private final LineLimit lines = new LineLimit(LINES_MAX);

  public AuditLog(String dc) {
    this.dc = dc;
  }

  /**
   * Logs a login.
   *
   * @param by how the user proved its identity: password or certificate
   * @param client the name that the client gives itself
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

  /** Logs a login that failed. */
  void loginFailed(String user, String address, String why) {
    if (hasRoom()) {
      write(line("login-failed").put("user", user).put("address", address).put("why", why));
    }
  }

  /** Logs a request that was refused for want of a right. */
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
   * Logs an administrator's command, whether it was done or not.
   *
   * @param command the command, without secrets
   * @param outcome done, or the reason why not
   */
  public void administered(String user, String address, String command, String outcome) {
    write(
        line("admin")
            .put("user", user)
            .put("address", address)
            .put("command", command)
            .put("outcome", outcome));
  }

  /** Returns how many lines were left out since the start, because strangers caused so many. */
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
