package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.datacenter.access.User;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.tracking.Prefix;
import io.osier.datacenter.redis.tracking.TrackedClient;
import io.osier.datacenter.redis.tracking.Tracking;
import io.osier.datacenter.redis.tracking.TrackingOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a connection may keep in a cache of its own, and how it hears that it has changed: what it
 * is told stands among its answers, behind those to all commands that were begun. So it hears of a
 * change behind what it has read before. Used by the channel's loop, but for {@link #target} and
 * the figures, which are for any thread.
 */
final class Caches {
  /** While so many answers wait nothing is put among them: as many as commands are, and a few. */
  private static final int ANSWERS_MAX = Answers.COMMANDS_MAX + 64;

  private final Channel channel;
  private final ClientState client;
  private final Answers answers;
  private final Steps steps;
  private final Subscriptions subscriptions;
  private final Tracking all;

  private final TrackedClient tracked;

  /** What waits until changes of keyspaces are heard of, and where it is answered. */
  private record Starting(List<String> keyspaces, Place place, Runnable on) {}

  /** Null while nothing does. */
  private @Nullable Starting starting;

  private boolean closed;

  /**
   * @param steps wait until changes are heard of
   * @param connection works when there is something to tell
   * @param subscriptions by which it may hear who speaks RESP2
   */
  Caches(
      Channel channel,
      ClientState client,
      Answers answers,
      Steps steps,
      Connection connection,
      Subscriptions subscriptions) {
    this.channel = channel;
    this.client = client;
    this.answers = answers;
    this.steps = steps;
    this.subscriptions = subscriptions;
    this.all = client.server.tracking();
    this.tracked = all.client(connection::wakeLater);
  }

  /** What hears of changes for a user; null once the connection has ended, or is another one's. */
  private synchronized @Nullable TrackedClient target(String user) {
    return closed || !user.equals(client.user) ? null : tracked;
  }

  // ---------------------------------------------------------------- commands

  /** CLIENT TRACKING ON; it is answered once all changes are heard of, by these or by others. */
  void track(Place place, TrackingOptions options, Caches redirect) {
    TrackedClient of = target(client.user);
    TrackedClient to = redirect.target(client.user);
    if (of == null || to == null) {
      throw noClient();
    }
    @Nullable TrackedClient hears = options.redirect() == 0 ? null : to;
    all.checkOn(of, options);
    String keyspace = client.keyspace();
    if (options.broadcast()) {
      List<Prefix> wanted = options.prefixes();
      check(keyspace, wanted.isEmpty() ? List.of(Prefix.EMPTY) : wanted);
    }
    Runnable on =
        () -> {
          RespValue answer = RespValue.OK;
          try {
            all.on(of, options, keyspace, hears);
            if (hears != null && redirect.target(client.user) == null) {
              all.leave(hears); // it ended after the check above, and so took nobody along
            }
          } catch (RedisException e) {
            answer = RedisErrors.of(e);
          }
          answers.fill(place, answer);
        };
    List<String> homes = client.database().keyspaces();
    all.start(of);
    steps.hold();
    starting = new Starting(homes, place, on);
    if (start()) {
      steps.goOn();
    }
  }

  static RedisException noClient() {
    return new RedisException("ERR The client ID you want redirect to does not exist");
  }

  /**
   * Goes on with {@link #track}, if that waits and changes are heard of now.
   *
   * @return whether it does: what was held is to be begun, if its user may still hear of them
   */
  boolean start() {
    Starting now = starting;
    if (now == null) {
      return false;
    }
    try {
      if (!client.server.listen(now.keyspaces)) {
        return false;
      }
      starting = null;
      now.on.run();
    } catch (OsierException e) {
      starting = null;
      all.startsNot(tracked);
      answers.fill(now.place, RedisErrors.of(e));
    }
    return true;
  }

  private boolean mayStart() {
    Starting now = starting;
    return now != null && hears(now.keyspaces);
  }

  /** Whether changes of these are heard of, or it is known that they are not. */
  private boolean hears(Collection<String> keyspaces) {
    try {
      return client.server.listen(keyspaces);
    } catch (OsierException e) {
      return true;
    }
  }

  /** CLIENT TRACKING OFF. */
  void trackNothing() {
    all.off(tracked);
  }

  /** CLIENT CACHING. */
  void caching(String word) {
    TrackingOptions options = tracked.options();
    if (options == null || !(options.optIn() || options.optOut())) {
      throw new RedisException(
          "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or"
              + " OPTOUT mode enabled");
    }
    boolean yes = word.equals("YES");
    if (!yes && !word.equals("NO")) {
      throw RedisErrors.syntax();
    }
    if (yes != options.optIn()) {
      throw new RedisException(
          "ERR CLIENT CACHING "
              + word
              + " is only valid when tracking is enabled in "
              + (yes ? "OPTIN" : "OPTOUT")
              + " mode.");
    }
    tracked.setCaching(yes);
  }

  /** The command that CLIENT CACHING was said of is done. */
  void endCaching() {
    tracked.setCaching(null);
  }

  /** CLIENT TRACKINGINFO. */
  RespValue info() {
    return RespValue.pairs(
        "flags", RespValue.Array.of(tracked.flags(), RespValue.Bulk::of),
        "redirect", redirect(),
        "prefixes", RespValue.Array.of(all.prefixes(tracked), p -> new RespValue.Bulk(p.bytes())));
  }

  // ---------------------------------------------------------------- what others do to it

  /** Another database is selected. */
  void select(Database database) {
    if (!tracked.isOn()) {
      return;
    }
    check(database.keyspace(), all.prefixes(tracked));
    hear(database.keyspaces());
    all.select(tracked, database.keyspace());
  }

  /** It is another user's now. Who was told of a cache by it was of the former one. */
  void leave() {
    all.leave(tracked);
  }

  /** Whether its user may hear of what it has asked for. */
  boolean isForbidden() {
    return tracked.isBroadcast()
        && all.keyspaces(tracked).stream()
            .anyMatch(k -> all.prefixes(tracked).stream().anyMatch(p -> missing(k, p) != null));
  }

  private void check(String keyspace, Collection<Prefix> prefixes) {
    for (Prefix each : prefixes) {
      Grant missing = missing(keyspace, each);
      if (missing != null) {
        throw client.refused("client|tracking", missing);
      }
    }
  }

  private @Nullable Grant missing(String keyspace, Prefix prefix) {
    Grant needed =
        prefix.bytes().length == 0
            ? Grant.on(Grant.Right.READ, keyspace)
            : Grant.on(Grant.Right.READ, keyspace, Key.of(prefix.bytes()));
    return client.present().filter(u -> u.may(needed)).isPresent() ? null : needed;
  }

  /** The connection has ended. */
  void close() {
    synchronized (this) {
      closed = true; // from now on nobody else hears by it
    }
    starting = null;
    all.off(tracked);
    all.leave(tracked);
  }

  // ---------------------------------------------------------------- what it reads

  /**
   * Notes that a command will read keys, if its answer may be kept: before it is begun. Whoever
   * hears of all keys may keep it, too: nothing is read of which changes would not be heard.
   *
   * @param words the keys, as they were sent
   */
  void willRead(Supplier<List<byte[]>> words) {
    if (!(tracked.isBroadcast() || tracked.keepsNext())) {
      return;
    }
    Database database = client.database();
    if (tracked.isBroadcast()) {
      hear(database.keyspaces());
      return;
    }
    String keyspace = database.keyspace();
    Optional<User> user = client.present();
    Set<String> homes = new HashSet<>();
    List<Key> keys = new ArrayList<>();
    for (byte[] word : words.get()) {
      if (word.length > 0 && word.length <= Key.LENGTH_MAX) {
        Key key = Key.of(word);
        homes.add(database.keyspace(key));
        if (user.filter(u -> u.may(Grant.Right.READ, keyspace, key)).isPresent()) {
          keys.add(key);
        }
      }
    }
    hear(homes);
    all.read(tracked, keyspace, keys);
  }

  /**
   * Changes of these are heard of: anew, if a keyspace is another one of its name, or is held by
   * others now. Of one whose holders are out of reach nothing is read either.
   */
  private void hear(Collection<String> keyspaces) {
    keyspaces.forEach(each -> hears(List.of(each)));
  }

  /**
   * Whether what it reads of a keyspace must not be a copy of what others hold: that may be older
   * than what it was told of.
   */
  boolean readsWhereItIsHeld(String keyspace) {
    return tracked.isOn() && !client.server.holds(keyspace);
  }

  /** What tells its own changes from others'; 0 if it hears of those as well. */
  long author() {
    return tracked.author();
  }

  // ---------------------------------------------------------------- what it is told

  /** Whether there is something to go on with. */
  boolean hasWork() {
    return mayPush() || mayStart();
  }

  private boolean mayPush() {
    return tracked.hasWaiting() && answers.size() < ANSWERS_MAX && channel.isWritable();
  }

  /** Tells what has changed, as long as it is read. */
  void push() {
    if (!mayPush()) {
      return;
    }
    boolean resp3 = client.resp3;
    boolean hears = resp3 || subscriptions.haveCaches();
    while (mayPush()) {
      RespValue.Push next = all.poll(tracked, resp3, hears);
      if (next != null) {
        answers.push(next, resp3);
      }
    }
  }

  // ---------------------------------------------------------------- figures

  /** Who hears in its place: 0 for itself, -1 if it does not track. */
  long redirect() {
    return tracked.redirect();
  }

  /** What CLIENT LIST shows of it. */
  String flags() {
    return !tracked.isOn()
        ? ""
        : "t" + (tracked.isBroken() ? "R" : "") + (tracked.isBroadcast() ? "B" : "");
  }
}
