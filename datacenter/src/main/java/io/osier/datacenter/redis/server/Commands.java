package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.data.HashCommands;
import io.osier.datacenter.redis.command.data.KeyCommands;
import io.osier.datacenter.redis.command.data.ObjectCommands;
import io.osier.datacenter.redis.command.data.SetCommands;
import io.osier.datacenter.redis.command.data.StringCommands;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All commands that there are. Static, for any thread. */
final class Commands {
  private Commands() {}

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
}
