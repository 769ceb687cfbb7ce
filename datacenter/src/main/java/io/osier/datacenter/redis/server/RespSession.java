package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.transaction.Transaction;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one connection has said of itself and chosen. Used by the channel's loop only; what CLIENT
 * LIST shows is read by others, too.
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
  private final RedisPort port;
  private final ClientRequests requests;
  private final RespConnection connection;
  private final long id;
  private final long sinceMillis;

  /** Not shared: one of all connections would be under a lock. */
  private final SplittableRandom seeds;

  private volatile int database;
  private volatile boolean resp3;
  private volatile String name = "";
  private volatile String library = "";
  private volatile String libraryVersion = "";
  private volatile String user = "";
  private volatile String lastCommand = "NULL";
  private volatile long lastMillis;
  private Replies replies = Replies.ON;
  private final Transaction transaction;

  /** Whether others see it. */
  private boolean known;

  RespSession(Channel channel, RedisPort port, ClientRequests requests, RespConnection connection) {
    this.channel = channel;
    this.port = port;
    this.requests = requests;
    this.connection = connection;
    this.id = port.nextId();
    this.sinceMillis = port.millis();
    this.seeds = new SplittableRandom(port.seed());
    this.lastMillis = sinceMillis;
    this.transaction = new Transaction(requests::bytes, requests.answerBytes());
  }

  // ---------------------------------------------------------------- who it is

  /**
   * Looks whether it must log in.
   *
   * @throws OsierException OVERLOADED if the user has too many connections
   */
  void begin() {
    if (!known) {
      known = true;
      port.opened(this);
    }
    if (!requests.isWelcome() && !requests.access().isWaiting()) {
      Optional<Identity> identity =
          requests.access().unasked(TlsName.ofOtherEnd(channel), channel.remoteAddress(), "redis");
      identity.ifPresent(this::welcome);
    }
  }

  /** The connection is closed. */
  void end() {
    transaction.close();
    port.closed(this);
  }

  /**
   * It is known who it is.
   *
   * @throws OsierException OVERLOADED if the user has too many connections
   */
  void welcome(Identity identity) {
    requests.welcome(identity);
    caches().belongTo(identity.user());
    if (!identity.user().equals(user)) {
      subscriptions().watches().clear(); // what is under way was asked by somebody else
    }
    user = identity.user();
    connection.welcome();
    subscriptions().closeIfForbidden();
  }

  /**
   * Looks whether a password is right, and goes on with what follows then.
   *
   * @param then what is answered if it is
   */
  void login(Place place, String name, byte[] password, Supplier<RespValue> then) {
    connection.alone(() -> judge(place, name, password, then));
  }

  private void judge(Place place, String name, byte[] password, Supplier<RespValue> then) {
    if (requests.access().users().isOpen() && name.equals(Users.DEFAULT)) {
      judged(place, Optional.of(Identity.DEFAULT), "", then); // whose password may be any
      return;
    }
    port.logins()
        .login(
            requests.access(),
            name,
            RespDecoder.text(password).toCharArray(),
            channel.remoteAddress(),
            (identity, error) -> {
              try {
                channel.eventLoop().execute(() -> judged(place, identity, error, then));
              } catch (RejectedExecutionException e) {
                LOG.debug("client {} is gone with its loop", channel.remoteAddress(), e);
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
    connection.answer(place, answer);
    connection.goOn();
  }

  /** Whether the user may administer everything. */
  boolean mayAdminister() {
    Users users = requests.access().users();
    return users.isOpen()
        || requests
            .identity()
            .in(users)
            .filter(u -> u.may(Grant.onAll(Grant.Right.ADMIN)))
            .isPresent();
  }

  /** Notes that something was refused, because a right is missing. */
  void refused(String command, Grant missing) {
    requests
        .access()
        .audit()
        .refused(user, AccessControl.address(channel.remoteAddress()), command, missing);
  }

  /** Notes that something was administered. */
  void administered(String command) {
    requests
        .access()
        .audit()
        .administered(user, AccessControl.address(channel.remoteAddress()), command, "done");
  }

  /** What Redis says to who may not do a command, which is noted. */
  String noPermission(String command) {
    refused(command.toLowerCase(Locale.ROOT), Grant.onAll(Grant.Right.ADMIN));
    return "NOPERM User "
        + user
        + " has no permissions to run the '"
        + command.toLowerCase(Locale.ROOT)
        + "' command: the right admin * is missing";
  }

  /** What the present command is translated with. */
  Scope scope() {
    long now = lastMillis;
    RedisPort.Keyspace of = port.keyspace(database, now);
    return new Scope(
        of.name(), of.partition(), of.partitions(), now, seeds.nextLong(), resp3, port.cursors());
  }

  // ---------------------------------------------------------------- what it has chosen

  RedisPort port() {
    return port;
  }

  long id() {
    return id;
  }

  int database() {
    return database;
  }

  void select(int number) {
    port.checkDatabase(number);
    caches().select(port.keyspace(number).name());
    database = number;
  }

  String name() {
    return name;
  }

  void setName(String chosen) {
    name = chosen;
  }

  void setLibrary(String of) {
    library = of;
  }

  void setLibraryVersion(String of) {
    libraryVersion = of;
  }

  String user() {
    return user;
  }

  /** The user as it is now; empty if there is none. */
  Optional<User> present() {
    return requests.identity().in(requests.access().users());
  }

  ClientRequests requests() {
    return requests;
  }

  Caches caches() {
    return connection.caches();
  }

  Subscriptions subscriptions() {
    return connection.subscriptions();
  }

  /** The keyspace that is selected. */
  String keyspace() {
    return port.keyspace(database).name();
  }

  boolean resp3() {
    return resp3;
  }

  /** From the answer at this place on. */
  void setResp3(Place place, boolean to) {
    resp3 = to;
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

  /** One more command has come. */
  void count() {
    lastMillis = port.millis();
    port.count();
  }

  void setLastCommand(String of) {
    lastCommand = of;
  }

  void setReplies(Place place, Replies to) {
    replies = to;
    place.silent = to != Replies.ON;
  }

  /** What it has watched and queued. */
  Transaction transaction() {
    return transaction;
  }

  /** Nothing behind the present command is begun before {@link #goOn}. */
  void hold() {
    connection.hold();
  }

  /** What was held is begun. */
  void goOn() {
    connection.goOn();
  }

  /** Does what follows from the keyspaces to which it has written, once all that is answered. */
  void behindWrites(Place place, Function<Set<String>, Plan> then) {
    connection.steps().behindWrites(place, then);
  }

  /** The connection ends behind the answer to this command. */
  void quit(Place place) {
    connection.endBehind(place);
  }

  /** As if it had just come: who has logged in must do so again. */
  void reset(Place place) {
    connection.steps().behindAll(place, () -> transaction.snapshot().abandon(() -> afresh(place)));
  }

  private Plan afresh(Place place) {
    transaction.close();
    subscriptions().reset();
    caches().trackNothing();
    database = 0;
    name = "";
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
    user = "";
    connection.forget();
  }

  // ---------------------------------------------------------------- for other connections

  /** Closes it; for any thread. */
  void kill() {
    port.closed(this); // who asks next finds it gone, although another loop is to close it
    channel.close();
  }

  String address() {
    return RedisPort.address(channel.remoteAddress());
  }

  String localAddress() {
    return RedisPort.address(channel.localAddress());
  }

  long sinceMillis() {
    return sinceMillis;
  }

  /** When its last command came. */
  long lastMillis() {
    return lastMillis;
  }

  String lastCommand() {
    return lastCommand;
  }

  String library() {
    return library;
  }

  String libraryVersion() {
    return libraryVersion;
  }

  /** What it has of answers that wait. */
  long waitingBytes() {
    return connection.waitingBytes();
  }
}
