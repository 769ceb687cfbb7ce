package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;

import io.osier.core.ErrorCode;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.tracking.Tracking;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The text of INFO. Static, for any thread. */
final class InfoText {
  /**
   * The sections that INFO shows by default: without the number of keys, as counting them takes a
   * walk through all.
   */
  private static final List<String> DEFAULT =
      List.of(
          "server clients memory persistence stats replication cpu modules errorstats cluster"
              .split(" "));

  private static final String KEYSPACE = "keyspace";

  private InfoText() {}

  static Plan info(RespSession session, Place place, byte[][] words) {
    Set<String> sections = new LinkedHashSet<>();
    for (int i = 1; i < words.length; i++) {
      String section = text(words[i]).toLowerCase(Locale.ROOT);
      switch (section) {
        case "default" -> sections.addAll(DEFAULT);
        case "all", "everything" -> {
          sections.addAll(DEFAULT);
          sections.add(KEYSPACE);
        }
        default -> sections.add(section);
      }
    }
    if (words.length == 1) {
      sections.addAll(DEFAULT);
    }
    StringBuilder text = new StringBuilder();
    for (String section : sections) {
      List<String> lines = lines(session, section);
      if (!lines.isEmpty()) {
        begin(text, section);
        lines.forEach(line -> text.append(line).append("\r\n"));
      }
    }
    if (!sections.contains(KEYSPACE)) {
      return answer(RespValue.Bulk.of(text.toString()));
    }
    begin(text, KEYSPACE);
    return keyspaces(session.server.databases().entrySet().iterator(), text);
  }

  private static void begin(StringBuilder text, String section) {
    if (!text.isEmpty()) {
      text.append("\r\n");
    }
    text.append("# ")
        .append(section.substring(0, 1).toUpperCase(Locale.ROOT))
        .append(section.substring(1))
        .append("\r\n");
  }

  private static Plan keyspaces(Iterator<Map.Entry<Integer, Database>> left, StringBuilder text) {
    if (!left.hasNext()) {
      return answer(RespValue.Bulk.of(text.toString()));
    }
    Map.Entry<Integer, Database> each = left.next();
    return KeyspaceCommands.count(
        each.getValue().keyspaces(),
        keys -> {
          if (keys > 0) {
            text.append("db")
                .append(each.getKey())
                .append(":keys=")
                .append(keys)
                .append(",expires=0,avg_ttl=0\r\n");
          }
          return keyspaces(left, text);
        },
        failure ->
            failure.code() == ErrorCode.FORBIDDEN || failure.code() == ErrorCode.UNAVAILABLE
                ? keyspaces(left, text) // not for this user, or out of reach: not shown
                : answer(RedisErrors.of(failure)));
  }

  private static List<String> lines(RespSession session, String section) {
    ServerState port = session.server;
    List<String> lines = new ArrayList<>();
    long upSeconds = Math.max(0, port.millis() - port.startMillis) / 1_000;
    Runtime java = Runtime.getRuntime();
    long used = java.totalMemory() - java.freeMemory();
    switch (section) {
      case "server" -> {
        lines.add("redis_version:" + ConnectionCommands.REDIS_VERSION);
        lines.add("osier_version:" + port.around.version());
        lines.add("osier_datacenter:" + port.around.self().dc());
        lines.add("redis_mode:standalone");
        lines.add("os:" + System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        lines.add("arch_bits:64");
        lines.add("process_id:" + ProcessHandle.current().pid());
        lines.add(
            "run_id:" + String.format(Locale.ROOT, "%040x", port.around.self().incarnation()));
        lines.add("tcp_port:" + port.port());
        lines.add("uptime_in_seconds:" + upSeconds);
        lines.add("uptime_in_days:" + upSeconds / 86_400);
        lines.add("executable:");
        lines.add("config_file:");
      }
      case "clients" -> {
        lines.add("connected_clients:" + session.all.size());
        lines.add("blocked_clients:0");
        lines.add("tracking_clients:" + port.tracking().figures().clients());
        lines.add("pubsub_clients:" + port.pubSub().figures().subscribers());
      }
      case "memory" -> {
        lines.add("used_memory:" + used);
        lines.add("used_memory_human:" + (used >> 20) + "M");
        lines.add("used_memory_rss:" + java.totalMemory());
        lines.add("used_memory_peak:" + java.totalMemory());
        lines.add("total_system_memory:" + java.maxMemory());
        lines.add("maxmemory:" + java.maxMemory());
        lines.add("maxmemory_policy:noeviction");
        lines.add("mem_fragmentation_ratio:1.00");
      }
      case "persistence" -> {
        lines.add("loading:0");
        lines.add("async_loading:0");
        lines.add("rdb_changes_since_last_save:0");
        lines.add("rdb_bgsave_in_progress:0");
        lines.add("rdb_last_save_time:" + port.startMillis / 1_000);
        lines.add("rdb_last_bgsave_status:ok");
        lines.add("aof_enabled:0");
        lines.add("aof_rewrite_in_progress:0");
      }
      case "stats" -> {
        lines.add("total_connections_received:" + port.connectionsOpened());
        lines.add("total_commands_processed:" + port.commandsDone());
        lines.add("rejected_connections:0");
        lines.add("expired_keys:0");
        lines.add("evicted_keys:0");
        lines.add("keyspace_hits:0");
        lines.add("keyspace_misses:0");
        lines.add("pubsub_channels:" + port.pubSub().channelCount());
        lines.add("pubsub_patterns:" + port.pubSub().patternCount());
        Tracking.Figures tracked = port.tracking().figures();
        lines.add("tracking_total_keys:" + tracked.keys());
        lines.add("tracking_total_items:" + tracked.items());
        lines.add("tracking_total_prefixes:" + tracked.prefixes());
      }
      case "replication" -> {
        lines.add("role:master");
        lines.add("connected_slaves:0");
        lines.add("master_replid:" + String.format(Locale.ROOT, "%040x", 0));
        lines.add("master_repl_offset:0");
      }
      case "cpu" -> {
        long nanos =
            ProcessHandle.current().info().totalCpuDuration().map(d -> d.toNanos()).orElse(0L);
        lines.add("used_cpu_sys:0.000000");
        lines.add(String.format(Locale.ROOT, "used_cpu_user:%.6f", nanos / 1e9));
      }
      case "cluster" -> lines.add("cluster_enabled:0");
      default -> {}
    }
    return lines;
  }
}
