package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.command.Plan.answer;
import static java.util.Map.entry;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.data.DataCommands;
import io.osier.datacenter.redis.pubsub.Topic;
import io.osier.protocol.Request.End;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The port for clients that speak the Redis protocol, with the table of all commands. Thread-safe.
 */
public final class RedisPort implements ClientServer.Protocol {
  private final ServerState server;
  private final CommandTable table = table();
  private final Map<Long, RespSession> sessions = new ConcurrentHashMap<>();

  /**
   * @param databases the keyspaces that SELECT chooses, by number; empty for the only one there is
   */
  public RedisPort(
      Map<Integer, String> databases, ClientService handler, ServerState.Around around) {
    this.server = new ServerState(databases, handler, around);
  }

  static CommandTable table() {
    return CommandTable.of(DataCommands.all(), own());
  }

  private static Map<String, CommandTable.Action> own() {
    return Map.ofEntries(
        entry("COMMAND", CommandCommand::command),
        entry("INFO", InfoText::info),
        entry("CONFIG", ServerCommands::config),
        entry("TIME", ServerCommands::time),
        entry("ROLE", ServerCommands::role),
        entry("LATENCY", ServerCommands::latency),
        entry("SLOWLOG", ServerCommands::slowlog),
        entry("MEMORY", ServerCommands::memory),
        entry("FUNCTION", ServerCommands::function),
        entry("DEBUG", ServerCommands::debug),
        entry("ACL", AclCommand::acl),
        entry("OBJECT", ServerCommands::object),
        entry("WAIT", ServerCommands::waits),
        entry("WAITAOF", ServerCommands::waitsDurably),
        entry("PING", ConnectionCommands::ping),
        entry("ECHO", (session, place, words) -> answer(new RespValue.Bulk(words[1]))),
        entry("SELECT", ConnectionCommands::select),
        entry("AUTH", ConnectionCommands::auth),
        entry("HELLO", ConnectionCommands::hello),
        entry("QUIT", ConnectionCommands::quit),
        entry("RESET", ConnectionCommands::reset),
        entry("CLIENT", ClientCommand::client),
        entry("OSIER.TOKEN", ConnectionCommands::token),
        entry("OSIER.AFTER", ConnectionCommands::after),
        entry("SCAN", (s, place, words) -> KeyspaceCommands.scan(s.scope(), words)),
        entry("KEYS", (s, place, words) -> KeyspaceCommands.keys(s.scope(), words)),
        entry("RANDOMKEY", (s, place, words) -> KeyspaceCommands.randomKey(s.scope(), words)),
        entry("DBSIZE", (s, place, words) -> KeyspaceCommands.count(s.scope(), words)),
        entry("FLUSHDB", (s, place, words) -> KeyspaceCommands.flushDatabase(s, words)),
        entry("FLUSHALL", (s, place, words) -> KeyspaceCommands.flushAll(s, words)),
        entry("MULTI", (s, place, words) -> answer(s.transaction.begin())),
        entry("EXEC", (s, place, words) -> TransactionCommands.exec(s)),
        entry("DISCARD", (s, place, words) -> answer(s.transaction.discard())),
        entry("WATCH", (s, place, words) -> TransactionCommands.watch(s, words)),
        entry("UNWATCH", (s, place, words) -> answer(s.transaction.unwatch())),
        entry("OSIER.BEGIN", (s, place, words) -> TransactionCommands.begin(s, words)),
        entry("OSIER.COMMIT", (s, place, words) -> s.transaction.snapshot().end(End.COMMIT)),
        entry("OSIER.ABORT", (s, place, words) -> s.transaction.snapshot().end(End.ABORT)),
        entry("SUBSCRIBE", (s, p, w) -> PubSubCommands.subscribe(s, p, w, Topic::channel)),
        entry("PSUBSCRIBE", (s, p, w) -> PubSubCommands.subscribe(s, p, w, Topic::pattern)),
        entry("UNSUBSCRIBE", (s, p, w) -> PubSubCommands.unsubscribe(s, p, w, false)),
        entry("PUNSUBSCRIBE", (s, p, w) -> PubSubCommands.unsubscribe(s, p, w, true)),
        entry("PUBLISH", PubSubCommands::publish),
        entry("PUBSUB", PubSubCommands::pubSub),
        entry("OSIER.WATCH", PubSubCommands::watch),
        entry("OSIER.UNWATCH", PubSubCommands::unwatch));
  }

  public void setPort(int number) {
    server.setPort(number);
  }

  @Override
  public ClientServer.Visitor open(
      Channel channel, Function<ClientRequests.Room, ClientRequests> requests) {
    return new RespConnection(channel, server, requests, table, sessions);
  }

  @Override
  public ByteBuf refusal(ByteBufAllocator alloc, String why) {
    byte[] line =
        ("-ERR max number of clients reached: " + why + "\r\n").getBytes(StandardCharsets.UTF_8);
    return alloc.buffer(line.length).writeBytes(line);
  }
}
