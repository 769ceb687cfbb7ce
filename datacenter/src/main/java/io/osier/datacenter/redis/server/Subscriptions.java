package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.Grant;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.pubsub.Subscriber;
import io.osier.datacenter.redis.pubsub.Topic;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a connection subscribes to, and how messages come to stand among its answers. Used by the
 * channel's loop, but for the figures, which are for any thread.
 */
final class Subscriptions {
  private static final Logger LOG = LoggerFactory.getLogger(Subscriptions.class);

  /** So many messages stand among the answers at most; the others wait beside them. */
  private static final int PUSHES_MAX = 64;

  private final Channel channel;
  private final RespSession session;
  private final Answers answers;
  private final Steps steps;
  private final RespConnection connection;

  /** Null while it has never subscribed to anything. */
  private volatile @Nullable Subscriber subscriber;

  /**
   * None.
   *
   * @param connection works when messages wait, and ends if they are not read
   */
  Subscriptions(
      Channel channel,
      RespSession session,
      Answers answers,
      Steps steps,
      RespConnection connection) {
    this.channel = channel;
    this.session = session;
    this.answers = answers;
    this.steps = steps;
    this.connection = connection;
  }

  /** What can subscribe. */
  Subscriber subscriber() {
    Subscriber of = subscriber;
    if (of == null) {
      of = new Subscriber(session.port().pubSub(), connection::wakeLater);
      subscriber = of;
    }
    return of;
  }

  /**
   * Whether messages could not be told from answers: then it can only subscribe and unsubscribe.
   */
  boolean restrict() {
    Subscriber of = subscriber;
    return of != null && !session.resp3() && !of.topics().isEmpty();
  }

  /** Whether it subscribes to something. */
  boolean has(Topic topic) {
    Subscriber of = subscriber;
    return of != null && of.topics().contains(topic);
  }

  /** Ends them all, without a word. */
  void reset() {
    Subscriber of = subscriber;
    if (of != null) {
      of.unsubscribeAll(false);
      of.unsubscribeAll(true);
    }
  }

  /** The connection has ended. */
  void close() {
    Subscriber of = subscriber;
    if (of != null) {
      of.close();
    }
  }

  /** Closes the connection if its user may not hear any more what it subscribes to. */
  void closeIfForbidden() {
    Subscriber of = subscriber;
    if (!channel.isOpen()) {
      return;
    }
    if (session.caches().isForbidden()) {
      cut();
      return;
    }
    if (of == null) {
      return;
    }
    for (Topic topic : of.topics()) {
      if (PubSubCommands.missing(session, Grant.Right.READ, topic) != null) {
        cut();
        return;
      }
    }
  }

  private void cut() {
    LOG.info(
        "connection of client {} closed: its user '{}' may not hear any more what it"
            + " subscribes to, or tracks",
        channel.remoteAddress(),
        session.user());
    connection.cut();
  }

  // ---------------------------------------------------------------- what is sent

  /** Answers a command that changes them: an answer for each channel or pattern. */
  void answer(Place place, List<RespValue> changes) {
    place.silent = false; // as Redis does, whatever CLIENT REPLY says
    answers.fill(place, changes.getFirst());
    changes.subList(1, changes.size()).forEach(c -> answers.push(c, place.resp3));
  }

  /** Publishes for a command, once no update of this connection is under way. */
  void publish(Place place, Supplier<RespValue> publishes) {
    steps.behindUpdates(() -> answers.fill(place, publishes.get()));
  }

  /** Whether messages wait that can be sent. */
  boolean mayPush() {
    Subscriber of = subscriber;
    return of != null && of.hasWaiting() && answers.size() < PUSHES_MAX && channel.isWritable();
  }

  /** Sends messages, behind all answers, as long as they are read. Who does not read is closed. */
  void push() {
    Subscriber of = subscriber;
    if (of == null) {
      return;
    }
    if (of.isTooSlow() && channel.isOpen()) {
      LOG.warn(
          "client {} does not read its messages ({} bytes wait); connection closed",
          channel.remoteAddress(),
          of.waitingBytes());
      connection.cut();
      return;
    }
    while (mayPush()) {
      pushNext(of);
    }
  }

  /** Puts all messages that wait among the answers. */
  void pushAll() {
    Subscriber of = subscriber;
    while (of != null && of.hasWaiting()) {
      pushNext(of);
    }
  }

  private void pushNext(Subscriber of) {
    RespValue.Push next = of.poll();
    if (next != null) {
      answers.push(next, session.resp3());
    }
  }

  // ---------------------------------------------------------------- figures

  /** Whether there are none. */
  boolean isEmpty() {
    return channels() + patterns() == 0;
  }

  /** What waits, about, in bytes. */
  long waitingBytes() {
    Subscriber of = subscriber;
    return of == null ? 0 : of.waitingBytes();
  }

  /** How many channels. */
  int channels() {
    Subscriber of = subscriber;
    return of == null ? 0 : of.channels();
  }

  /** How many patterns. */
  int patterns() {
    Subscriber of = subscriber;
    return of == null ? 0 : of.patterns();
  }
}
