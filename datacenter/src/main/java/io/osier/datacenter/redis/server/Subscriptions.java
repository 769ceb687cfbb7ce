package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.Grant;
import io.osier.datacenter.frontend.AnswerShare;
import io.osier.datacenter.frontend.Asked;
import io.osier.datacenter.frontend.UnsentReply;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.pubsub.ChangeWatches;
import io.osier.datacenter.redis.pubsub.Subscriber;
import io.osier.datacenter.redis.pubsub.Topic;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.tracking.TrackedClient;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subscriptions and watchers of a connection, and how their messages get among its answers.
 * Used by the channel's loop, except for the figures, which are for any thread.
 */
final class Subscriptions {
  private static final Logger LOG = LoggerFactory.getLogger(Subscriptions.class);

  /**
   * Messages are put among the answers while fewer answers than these wait; else they wait apart.
   */
  private static final int PUSHES_MAX = 64;

  private static final byte[] OF_CACHES = TrackedClient.CHANNEL.getBytes(StandardCharsets.US_ASCII);

  private final Channel channel;
  private final ClientState client;
  private final Answers answers;
  private final Connection connection;

  private final AnswerShare share;
  private final ChangeWatches watches = new ChangeWatches(this::ask);

  private final Subscriber subscriber;

  /**
   * @param connection is woken when messages wait, and ends if they are not read
   * @param share the budget of changes that wait
   */
  Subscriptions(
      Channel channel,
      ClientState client,
      Answers answers,
      Connection connection,
      AnswerShare share) {
    this.share = share;
    this.channel = channel;
    this.client = client;
    this.answers = answers;
    this.connection = connection;
    this.subscriber = new Subscriber(client.server.pubSub(), connection::wakeLater);
  }

  Subscriber subscriber() {
    return subscriber;
  }

  /**
   * Returns whether the client could not tell messages from answers (RESP2): then it may use only a
   * few commands.
   */
  boolean restrict() {
    return !client.resp3 && (subscriber.hasTopics() || !watches.isEmpty());
  }

  ChangeWatches watches() {
    return watches;
  }

  /** Returns whether it subscribes to the channel of invalidations. */
  boolean haveCaches() {
    return client.server.databases().values().stream()
        .anyMatch(k -> subscriber.topics().contains(Topic.channel(k.keyspace(), OF_CACHES)));
  }

  /** Ends all subscriptions and watchers, without answers. */
  void reset() {
    watches.clear();
    subscriber.unsubscribeAll(false);
    subscriber.unsubscribeAll(true);
  }

  void close() {
    watches.clear();
    takeChanges(); // gives back their bytes
    subscriber.close();
  }

  /** Returns whether its user lacks the right to something that it subscribes to. */
  boolean areForbidden() {
    return subscriber.topics().stream().anyMatch(topic -> missing(Grant.Right.READ, topic) != null);
  }

  /**
   * Returns the right that the user needs for a channel, or for all channels that a pattern
   * matches, and lacks; null if it has it.
   */
  @Nullable Grant missing(Grant.Right right, Topic topic) {
    if (right == Grant.Right.READ && !topic.isPattern() && Arrays.equals(topic.name(), OF_CACHES)) {
      return null; // each client is told of its own cache only
    }
    return client.missing(
        right, topic.keyspace(), topic.isPattern() ? Glob.prefix(topic.name()) : topic.name());
  }

  // ---------------------------------------------------------------- what is sent

  /** Answers a command that changes subscriptions: an answer for each channel or pattern. */
  void answer(Place place, List<RespValue> changes) {
    place.silent = false; // as Redis does, whatever CLIENT REPLY says
    answers.fill(place, changes.getFirst());
    changes.subList(1, changes.size()).forEach(c -> answers.push(c, place.resp3));
  }

  /** Returns whether messages wait that can be sent, or a watcher can send its next request. */
  boolean mayPush() {
    boolean waits = subscriber.hasWaiting() || watches.hasTold() || watches.mayAsk();
    return waits && hasRoom();
  }

  private boolean hasRoom() {
    return answers.size() < PUSHES_MAX && channel.isWritable();
  }

  /**
   * Sends messages, behind all answers, as long as the client reads them. A client that does not
   * read is disconnected.
   */
  void push() {
    pushChanges();
    if (subscriber.isTooSlow() && channel.isOpen()) {
      LOG.warn(
          "client {} does not read its messages ({} bytes wait); connection closed",
          channel.remoteAddress(),
          subscriber.waitingBytes());
      connection.cut();
      return;
    }
    while (subscriber.hasWaiting() && hasRoom()) {
      pushNext();
    }
  }

  private void pushChanges() {
    if (!channel.isActive()) {
      takeChanges();
      return;
    }
    RespValue.@Nullable Push next;
    while (watches.hasTold() && hasRoom() && (next = watches.poll(this::give)) != null) {
      answers.push(next, client.resp3);
    }
    if (watches.takeBehind()) {
      LOG.warn(
          "client {} does not read the changes that it watches; connection closed",
          channel.remoteAddress());
      connection.endAt(answers.add(client.resp3, true));
      return;
    }
    if (watches.mayAsk() && hasRoom()) {
      watches.ask();
    }
  }

  private void takeChanges() {
    while (watches.poll(this::give) != null) {}
  }

  private void give(Reply reply) {
    share.give(MessageHeap.bytes(reply));
  }

  private void ask(WatchRequest request, Consumer<Reply> told) {
    client.requests.ask(
        new Asked(client.requests, request, client.requests.nanos()) {
          @Override
          protected void answer(Reply reply) {
            Reply kept = share.keep(reply) < 0 ? UnsentReply.noRoom(reply) : reply;
            if (kept != reply) {
              share.keep(MessageHeap.bytes(kept), 0);
            }
            told.accept(kept);
            connection.wakeLater();
          }
        },
        0);
  }

  /** Puts all waiting messages among the answers. */
  void pushAll() {
    while (subscriber.hasWaiting()) {
      pushNext();
    }
  }

  private void pushNext() {
    RespValue.Push next = subscriber.poll();
    if (next != null) {
      answers.push(next, client.resp3);
    }
  }
}
