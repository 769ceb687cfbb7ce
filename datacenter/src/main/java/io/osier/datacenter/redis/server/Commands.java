package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.command.RedisCommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All commands that there are. Static, for any thread. */
final class Commands {
  private Commands() {}

  static CommandTable table() {
    List<RedisCommand> data = new ArrayList<>();
    data.addAll(TrialCommands.all());
    Map<RedisCommand, CommandTable.Action> own = new LinkedHashMap<>();
    own.putAll(ConnectionCommands.all());
    own.putAll(ServerCommands.all());
    own.putAll(KeyspaceCommands.all());
    return CommandTable.of(data, own);
  }
}
