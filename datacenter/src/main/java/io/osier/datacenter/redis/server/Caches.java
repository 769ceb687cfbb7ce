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
 * The client-side cache of a connection: what its client may keep, and how it is told that this has
 * changed. An invalidation stands behind the answers to all commands that were begun; so a client
 * hears of a change behind what it has read before. Used by the channel's loop, except for {@link
 * #target} and the figures, which are for any thread.
 */
final class Caches {
  /**
   * While so many answers wait no invalidations are put among them: the most commands, and a few.
   */
  private static final int ANSWERS_MAX = Answers.COMMANDS_MAX + 64;

  private final Channel channel;
  private final ClientState client;
  private final Answers answers;
  private final Steps steps;
  private final Subscriptions subscriptions;
  private final Tracking all;

  private final TrackedClient tracked;

  /**
   * A CLIENT TRACKING ON that waits until the changes of keyspaces are reported here, with the
   * place of its answer.
   */
  private record Starting(List<String> keyspaces, Place place, Runnable on) {}

  /** Null while no CLIENT TRACKING ON waits. */
  private @Nullable Starting starting;

  private boolean closed;

  /**
   * @param steps hold the commands behind CLIENT TRACKING ON until that is answered
   * @param connection is woken when there are invalidations to send
   * @param subscriptions tell whether a client that speaks RESP2 can be told
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

  /** Returns the tracked client, if the connection is open and its user is this one; else null. */
  private synchronized @Nullable TrackedClient target(String user) {
    return closed || !user.equals(client.user) ? null : tracked;
  }

  // ---------------------------------------------------------------- commands

  /**
   * CLIENT TRACKING ON. It is answered once the changes of all keyspaces of the database are
   * reported here, by this or by other datacenters.
   *
   * @param redirect the caches of the connection that hears in this one's place; these for none
   */
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
              all.leave(hears); // it ended after the check above, so it has not told its followers
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
   * Goes on with {@link #track}, if that waits and changes are reported here now.
   *
   * @return whether it went on: the caller then begins the held commands, if the user may still
   *     hear of changes
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

  /** Returns whether changes of keyspaces are reported here, or are known not to be. */
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

  /** Ends what CLIENT CACHING has said: the next command is done. */
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

  /**
   * Notes that the connection selects another database; an error if its user may not hear of the
   * changes there.
   */
  void select(Database database) {
    if (!tracked.isOn()) {
      return;
    }
    check(database.keyspace(), all.prefixes(tracked));
    hear(database.keyspaces());
    all.select(tracked, database.keyspace());
  }

  /**
   * Notes that the connection is another user's: connections of the former user no longer redirect
   * to it.
   */
  void leave() {
    all.leave(tracked);
  }

  /** Returns whether its user lacks the right to hear of what the connection tracks. */
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
    return client.missing(Grant.Right.READ, keyspace, prefix.bytes());
  }

  /** Ends tracking, as the connection has ended. */
  void close() {
    synchronized (this) {
      closed = true; // from now on no other connection redirects to it
    }
    starting = null;
    all.off(tracked);
    all.leave(tracked);
  }

  // ---------------------------------------------------------------- what it reads

  /**
   * Notes, before a command is begun, that it will read keys, if the client may keep the answer. A
   * client that tracks prefixes may keep every answer; for it the changes of the whole database
   * must be reported here.
   *
   * @param words returns the keys, as the client sent them
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
   * Has the changes of keyspaces reported here, again if a keyspace was created anew or is held by
   * others now. Nothing can be read of a keyspace whose holders are out of reach, so that is no
   * error.
   */
  private void hear(Collection<String> keyspaces) {
    keyspaces.forEach(each -> hears(List.of(each)));
  }

  /**
   * Returns whether reads of a keyspace must not be answered from a copy: a copy may be older than
   * what the client was told.
   */
  boolean readsWhereItIsHeld(String keyspace) {
    return tracked.isOn() && !client.server.holds(keyspace);
  }

  /** Returns the number that marks its own changes; 0 if it hears of those as well. */
  long author() {
    return tracked.author();
  }

  // ---------------------------------------------------------------- what it is told

  /**
   * Returns whether there is work: invalidations to send, or a CLIENT TRACKING ON that can go on.
   */
  boolean hasWork() {
    return mayPush() || mayStart();
  }

  private boolean mayPush() {
    return tracked.hasWaiting() && answers.size() < ANSWERS_MAX && channel.isWritable();
  }

  /** Sends invalidations, as long as the client reads. */
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

  /** Returns the connection that hears in its place: 0 for itself, -1 if it does not track. */
  long redirect() {
    return tracked.redirect();
  }

  /** Returns the flags that CLIENT LIST shows. */
  String flags() {
    return !tracked.isOn()
        ? ""
        : "t" + (tracked.isBroken() ? "R" : "") + (tracked.isBroadcast() ? "B" : "");
  }
}
