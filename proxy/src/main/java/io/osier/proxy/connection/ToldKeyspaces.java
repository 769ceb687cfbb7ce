package io.osier.proxy.connection;

import io.osier.protocol.Reply;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keyspaces that a datacenter has told, held there or elsewhere. Immutable. */
record ToldKeyspaces(
    List<Reply.KeyspaceInfo> here,
    Reply.Elsewhere elsewhere,
    Map<String, Reply.KeyspaceInfo> byName) {
  ToldKeyspaces(List<Reply.KeyspaceInfo> here, Reply.Elsewhere elsewhere) {
    this(here, elsewhere, new HashMap<>());
    here.forEach(keyspace -> byName.putIfAbsent(keyspace.name(), keyspace));
  }

  /** Returns a keyspace that the datacenter holds; null if it holds none of that name. */
  Reply.@Nullable KeyspaceInfo find(String name) {
    return byName.get(name);
  }
}
