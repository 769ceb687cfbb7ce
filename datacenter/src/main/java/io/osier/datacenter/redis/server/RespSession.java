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
 * What a command can do with its connection: log in, choose, subscribe, hold back what follows, end
 * it. Used by the channel's loop only, but for {@link #kill} and the figures.
 */
final class RespSession {
  private static final Logger LOG = LoggerFactory.getLogger(RespSession.class);

  /** What CLIENT REPLY says. */
  enum Replies {
    ON,
    OFF,
    /** Not to the next command. */
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

  /** Those of the port, with this one; for any thread. */
  final Map<Long, RespSession> all;

  /** Not shared: one of all connections would be under a lock. */
  private final SplittableRandom seeds;

  private Replies replies = Replies.ON;
  final Transaction transaction;

  /** Whether others see it. */
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

  /** Looks whether it must log in; OVERLOADED if the user has too many connections. */
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

  /** It is known who it is; OVERLOADED if the user has too many connections. */
  void welcome(Identity identity) {
    requests.welcome(identity);
    become(identity.user());
    connection.setKnown(true);
    closeIfForbidden();
  }

  private void become(String user) {
    if (!user.equals(client.user)) {
      client.user = user; // first: nobody of the former one has it hear from now on
      caches.leave();
      subscriptions.watches().clear(); // what is under way was asked by somebody else
    }
  }

  /** Closes the connection if its user may not hear any more what it subscribes to. */
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

  /** Looks whether a password is right, and answers with what follows if it is. */
  void login(Place place, String name, byte[] password, Supplier<RespValue> then) {
    steps.alone(() -> judge(place, name, password, then));
  }

  private void judge(Place place, String name, byte[] password, Supplier<RespValue> then) {
    if (requests.access().users().isOpen() && name.equals(Users.DEFAULT)) {
      judged(place, Optional.of(Identity.DEFAULT), "", then); // whose password may be any
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

  /** What the present command is translated with. */
  Scope scope() {
    long now = client.lastMillis;
    return new Scope(
        server.database(client.database, now), now, seeds.nextLong(), client.resp3, server.cursors);
  }

  // ---------------------------------------------------------------- what it has chosen

  String keyspace() {
    return client.keyspace();
  }

  void select(int number) {
    server.checkDatabase(number);
    caches.select(server.database(number));
    client.database = number;
  }

  /** From the answer at this place on. */
  void setResp3(Place place, boolean to) {
    client.resp3 = to;
    place.resp3 = to;
  }

  /** Whether the next command's answer is not sent. Asked once for each command. */
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

  /** As if it had just come: who has logged in must do so again. */
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

  /** Closes it; for any thread. */
  void kill() {
    all.remove(client.id); // who asks next finds it gone, although another loop is to close it
    channel.close();
  }

  long waitingBytes() {
    return connection.waitingBytes();
  }
}
