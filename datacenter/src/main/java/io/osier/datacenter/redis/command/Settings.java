package io.osier.datacenter.redis.command;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings that CONFIG GET shows at first and CONFIG SET may change. Static, for any thread.
 */
public final class Settings {
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,19}([kKmMgG]?[bB]?|%)");

  private static final String[] FIRST = {
    "maxmemory", "0",
    "maxmemory-policy", "noeviction",
    "maxclients", "10000",
    "timeout", "0",
    "save", "",
    "appendonly", "no",
    "appendfsync", "everysec",
    "dir", "",
    "dbfilename", "",
    "requirepass", "",
    "proto-max-bulk-len", "16777216",
    "client-query-buffer-limit", "68157440",
    "notify-keyspace-events", "",
    "slowlog-log-slower-than", "10000",
    "slowlog-max-len", "128",
    "latency-monitor-threshold", "0",
    "lazyfree-lazy-user-del", "no",
    "lazyfree-lazy-user-flush", "no",
    "lazyfree-lazy-expire", "no",
    "cluster-enabled", "no",
    "replica-read-only", "yes",
    "hash-max-listpack-entries", "128",
    "hash-max-listpack-value", "64",
    "hash-max-ziplist-entries", "128", // the former names
    "hash-max-ziplist-value", "64",
    "set-max-intset-entries", "512",
    "set-max-listpack-entries", "128",
    "set-max-listpack-value", "64",
    "list-max-listpack-size", "-2",
    "list-max-ziplist-size", "-2",
    "zset-max-listpack-entries", "128",
    "zset-max-listpack-value", "64",
    "zset-max-ziplist-entries", "128",
    "zset-max-ziplist-value", "64",
    "active-expire-effort", "1",
    "hz", "10",
    "loglevel", "notice",
    "tcp-keepalive", "60",
    "tracking-table-max-keys", "1000000",
    "acllog-max-len", "128",
    "close-on-oom", "no",
    "lua-time-limit", "5000",
  };

  private Settings() {}

  public static Map<String, String> first(int databases) {
    Map<String, String> all = new TreeMap<>();
    for (int i = 0; i < FIRST.length; i += 2) {
      all.put(FIRST[i], FIRST[i + 1]);
    }
    all.put("databases", Integer.toString(databases));
    return all;
  }

  /**
   * Checks a new value of a setting: a setting whose first value is a number must stay a number,
   * which may have a unit of memory.
   *
   * @return why the value is refused; null if it is right
   */
  public static @Nullable String fault(String name, String value) {
    String first = first(1).get(name);
    return first != null && NUMBER.matcher(first).matches() && !NUMBER.matcher(value).matches()
        ? "argument must be a number"
        : null;
  }
}
