package io.osier.datacenter.redis.command;

import io.osier.crdt.CrdtType;

/** Which of Osier's types are what to Redis. Static, for any thread. */
final class Types {
  private Types() {}

  static boolean isString(CrdtType type) {
    return switch (type) {
      case PN_COUNTER,
          G_COUNTER,
          LWW_REGISTER,
          MV_REGISTER,
          EW_FLAG,
          DW_FLAG,
          BOUNDED_COUNTER,
          STRING,
          MIN_REGISTER,
          MAX_REGISTER ->
          true;
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS, OR_MAP -> false;
    };
  }

  static boolean isSet(CrdtType type) {
    return !isString(type) && !isHash(type);
  }

  static boolean isHash(CrdtType type) {
    return type == CrdtType.OR_MAP;
  }

  /** What TYPE says. */
  static String name(CrdtType type) {
    return isString(type) ? "string" : isHash(type) ? "hash" : "set";
  }
}
