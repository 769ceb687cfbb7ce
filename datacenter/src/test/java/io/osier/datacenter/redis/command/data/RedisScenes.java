package io.osier.datacenter.redis.command.data;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;

/** One node of Redis, and how its answers read. */
abstract class RedisScenes {
  final RedisNode node = RedisNode.alone();

  String text(String call) {
    return node.text(call.split(" "));
  }

  void update(String key, CrdtType type, Operation operation) {
    node.dc().write(key, type, operation);
  }
}
