package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.ProtocolError;
import io.osier.datacenter.redis.RespDecoder;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The commands of Redis that Osier does not serve, and the reasons. Static, for any thread. */
public final class NotServed {
  private static final int NAME_MAX = 32;

  private static final Set<String> HTTP = Set.of("POST", "HOST:");

  private static final Map<String, String> WHY = new HashMap<>();

  static {
    all(
        "sorted sets",
        "ZADD ZCARD ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY ZINTER ZINTERCARD ZINTERSTORE ZLEXCOUNT ZMPOP"
            + " ZMSCORE ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE"
            + " ZRANK ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX"
            + " ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE ZUNION ZUNIONSTORE GEOADD GEODIST GEOHASH"
            + " GEOPOS GEORADIUS GEORADIUSBYMEMBER GEOSEARCH GEOSEARCHSTORE");
    all(
        "lists",
        "LINDEX LINSERT LLEN LMOVE LMPOP LPOP LPOS LPUSH LPUSHX LRANGE LREM LSET LTRIM RPOP"
            + " RPOPLPUSH RPUSH RPUSHX");
    all("blocking pops", "BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN");
    all(
        "streams",
        "XACK XADD XAUTOCLAIM XCLAIM XDEL XGROUP XINFO XLEN XPENDING XRANGE XREAD XREADGROUP"
            + " XREVRANGE XSETID XTRIM");
    all("HyperLogLog", "PFADD PFCOUNT PFMERGE PFDEBUG PFSELFTEST");
    all("scripts and functions", "EVAL EVALSHA EVAL_RO EVALSHA_RO SCRIPT FCALL FCALL_RO");
    all(
        "sharded channels and what shows others' commands",
        "SSUBSCRIBE SUNSUBSCRIBE SPUBLISH MONITOR");
    all(
        "replication and administration of this protocol",
        "REPLICAOF SLAVEOF FAILOVER SYNC PSYNC REPLCONF SHUTDOWN SAVE BGSAVE"
            + " BGREWRITEAOF LASTSAVE CLUSTER ASKING READONLY READWRITE MIGRATE MODULE SWAPDB"
            + " MOVE");
  }

  private NotServed() {}

  private static void all(String what, String names) {
    for (String name : names.split(" ")) {
      WHY.put(name, what);
    }
  }

  /**
   * Returns the error for a command of Redis that Osier does not serve; null for every other name.
   */
  public static @Nullable String error(byte[] name) {
    if (name.length > NAME_MAX) {
      return null;
    }
    String text = RespDecoder.text(name);
    String what = WHY.get(text.toUpperCase(Locale.ROOT));
    return what == null
        ? null
        : "ERR '"
            + text.toLowerCase(Locale.ROOT)
            + "' is not served by Osier: "
            + what
            + " are not; see docs/REDIS.md";
  }

  /**
   * Refuses the lines of an HTTP request. A web page could otherwise let a browser send commands to
   * a datacenter on its own machine, where nobody logs in. The line {@code Host:} comes before the
   * body of any request.
   *
   * @throws ProtocolError if a command begins with a word of HTTP
   */
  public static void checkNoHttp(byte[] name) {
    boolean mayBe = // for nearly all commands the length suffices
        name.length == 4 ? (name[0] | 0x20) == 'p' : name.length == 5 && name[4] == ':';
    if (mayBe && HTTP.contains(RespDecoder.text(name).toUpperCase(Locale.ROOT))) {
      throw new ProtocolError("this looks like HTTP, and the port is for clients of Redis");
    }
  }
}
