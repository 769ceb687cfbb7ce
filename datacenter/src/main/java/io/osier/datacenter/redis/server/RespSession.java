package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.OsierException;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.transaction.Transaction;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What commands can do with their connection: log in, choose a database, subscribe, hold the
 * commands behind them, end it. Used by the channel's loop only, except for {@link #kill} and the
 * figures.
 */
final class RespSession {
  private static final Logger LOG = LoggerFactory.getLogger(RespSession.class);

  /** Whether answers are sent, as CLIENT REPLY says. */
  enum Replies {
    ON,
    OFF,
    /** The next command's answer is not sent. */
    SKIP
  }

  private final Channel channel;
  final ClientState client;
  final ServerState server;
  final ClientRequests requests;
  private final Answers answers;
  final Steps steps;
  final Subscriptions subscriptions;
  final Caches caches;
  final Connection connection;
  final CommandTable table;

  /** All sessions of the port by their ids, with this one; for any thread. */
  final Map<Long, RespSession> all;

  /** Not shared, as one generator for all connections would need a lock. */
  private final SplittableRandom seeds;

  private Replies replies = Replies.ON;
  final Transaction transaction;

  /** Whether it is among {@link #all}. */
  private boolean known;

  RespSession(
      ClientState client,
      Answers answers,
      Steps steps,
      Subscriptions subscriptions,
      Caches caches,
      Connection connection,
      CommandTable table,
      Map<Long, RespSession> all) {
    this.channel = client.channel;
    this.client = client;
    this.server = client.server;
    this.requests = client.requests;
    this.answers = answers;
    this.steps = steps;
    this.subscriptions = subscriptions;
    this.caches = caches;
    this.connection = connection;
    this.table = table;
    this.all = all;
    this.seeds = new SplittableRandom(server.seed());
    this.transaction = new Transaction(requests::bytes, requests.answerBytes(), server::life);
  }

  // ---------------------------------------------------------------- who it is

  /**
   * Makes the connection known, and logs it in if it needs no password.
   *
   * @throws OsierException OVERLOADED if the user has too many connections
   */
  void begin() {
    if (!known) {
      known = true;
      server.opened();
      all.put(client.id, this);
    }
    if (!requests.isWelcome() && !requests.access().isWaiting()) {
      Optional<Identity> identity =
          requests.access().unasked(TlsName.ofOtherEnd(channel), channel.remoteAddress(), "redis");
      identity.ifPresent(this::welcome);
    }
  }

  void end() {
    transaction.close();
    all.remove(client.id);
  }

  /**
   * Sets who the user is.
   *
   * @throws OsierException OVERLOADED if the user has too many connections
   */
  void welcome(Identity identity) {
    requests.welcome(identity);
    become(identity.user());
    connection.setKnown(true);
    closeIfForbidden();
  }

  private void become(String user) {
    if (!user.equals(client.user)) {
      // First, so that no connection of the former user redirects to this one from now on.
      client.user = user;
      caches.leave();
      subscriptions.watches().clear(); // the former user asked for them
    }
  }

  /** Closes the connection if its user lost the right to what it subscribes to or tracks. */
  void closeIfForbidden() {
    if (channel.isOpen() && (caches.isForbidden() || subscriptions.areForbidden())) {
      LOG.info(
          "connection of client {} closed: its user '{}' no longer has the right to what it"
              + " subscribes to or tracks",
          channel.remoteAddress(),
          client.user);
      connection.cut();
    }
  }

  /**
   * Checks a password.
   *
   * @param then returns the answer if the password is right
   */
  void login(Place place, String name, byte[] password, Supplier<RespValue> then) {
    steps.alone(() -> judge(place, name, password, then));
  }

  private void judge(Place place, String name, byte[] password, Supplier<RespValue> then) {
    if (requests.access().users().isOpen() && name.equals(Users.DEFAULT)) {
      judged(place, Optional.of(Identity.DEFAULT), "", then); // any password will do
      return;
    }
    server.logins.login(
        requests.access(),
        name,
        RespDecoder.text(password).toCharArray(),
        channel.remoteAddress(),
        (identity, error) -> {
          try {
            channel.eventLoop().execute(() -> judged(place, identity, error, then));
          } catch (RejectedExecutionException e) {
            LOG.debug("client {} is gone: its event loop has ended", channel.remoteAddress(), e);
          }
        });
  }

  private void judged(
      Place place, Optional<Identity> identity, String error, Supplier<RespValue> then) {
    RespValue answer = new RespValue.Err(error);
    if (identity.isPresent() && channel.isActive()) {
      try {
        welcome(identity.get());
        answer = then.get();
      } catch (OsierException e) {
        answer = RedisErrors.of(e);
      }
    }
    answers.fill(place, answer);
    connection.goOn();
  }

  /** Returns what the present command is translated with. */
  Scope scope() {
    long now = client.lastMillis;
    return new Scope(
        server.database(client.database, now), now, seeds.nextLong(), client.resp3, server.cursors);
  }

  // ---------------------------------------------------------------- what it has chosen

  void select(int number) {
    server.checkDatabase(number);
    caches.select(server.database(number));
    client.database = number;
  }

  /** Sets the protocol, from the answer at this place on. */
  void setResp3(Place place, boolean to) {
    client.resp3 = to;
    place.resp3 = to;
  }

  /** Returns whether the next command's answer is not sent. Called once for each command. */
  boolean takeSilence() {
    Replies now = replies;
    if (now == Replies.SKIP) {
      replies = Replies.ON;
    }
    return now != Replies.ON;
  }

  void setReplies(Place place, Replies to) {
    replies = to;
    place.silent = to != Replies.ON;
  }

  /** RESET: makes the connection as new; a user that has logged in must do so again. */
  void reset(Place place) {
    steps.behindAll(place, () -> transaction.snapshot().abandon(() -> afresh(place)));
  }

  private Plan afresh(Place place) {
    transaction.close();
    subscriptions.reset();
    caches.trackNothing();
    client.database = 0;
    client.name = "";
    setReplies(place, Replies.ON);
    setResp3(place, false);
    forget();
    try {
      begin();
    } catch (OsierException e) {
      return new Plan.Answer(RedisErrors.of(e));
    }
    return new Plan.Answer(new RespValue.Simple("RESET"));
  }

  private void forget() {
    requests.forget();
    become("");
    connection.setKnown(false);
  }

  // ---------------------------------------------------------------- for other connections

  /** Closes the connection; for any thread. */
  void kill() {
    all.remove(client.id); // at once, since another loop may close it later
    channel.close();
  }

  long waitingBytes() {
    return connection.waitingBytes();
  }
}
