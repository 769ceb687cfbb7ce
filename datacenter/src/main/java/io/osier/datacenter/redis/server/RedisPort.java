package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.data.HashCommands;
import io.osier.datacenter.redis.command.data.KeyCommands;
import io.osier.datacenter.redis.command.data.ObjectCommands;
import io.osier.datacenter.redis.command.data.SetCommands;
import io.osier.datacenter.redis.command.data.StringCommands;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The port for clients that speak the Redis protocol, with all its commands. Thread-safe. */
public final class RedisPort implements ClientServer.Protocol {
  private final ServerState server;
  private final CommandTable table = table();
  private final Map<Long, RespSession> sessions = new ConcurrentHashMap<>();

  /**
   * A port.
   *
   * @param databases by number the keyspaces that SELECT chooses; none for the only one there is
   */
  public RedisPort(
      Map<Integer, String> databases, ClientService handler, ServerState.Around around) {
    this.server = new ServerState(databases, handler, around);
  }

  /** All commands that there are. */
  static CommandTable table() {
    List<RedisCommand> data = new ArrayList<>();
    data.addAll(KeyCommands.all());
    data.addAll(StringCommands.all());
    data.addAll(HashCommands.all());
    data.addAll(SetCommands.all());
    data.addAll(ObjectCommands.all());
    Map<RedisCommand, CommandTable.Action> own = new LinkedHashMap<>();
    own.putAll(ConnectionCommands.all());
    own.putAll(ServerCommands.all());
    own.putAll(KeyspaceCommands.all());
    own.putAll(TransactionCommands.all());
    own.putAll(PubSubCommands.all());
    return CommandTable.of(data, own);
  }

  /** It is listened at this port. */
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
