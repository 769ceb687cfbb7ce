package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.Function;

/** What is to be done for a command, step by step. */
public sealed interface Plan {
  record Answer(RespValue value) implements Plan {}

  static Plan answer(RespValue value) {
    return new Answer(value);
  }

  static Plan answer(long number) {
    return new Answer(new RespValue.Int(number));
  }

  static Plan ok() {
    return new Answer(RespValue.OK);
  }

  /**
   * Something must be asked of partitions first.
   *
   * @param requests asked beside each other, one or more
   * @param then what follows from their replies, in the order of the requests; must not block. That
   *     of a data command is called by any thread, since what follows from much is decided beside
   *     the connection's loop. A {@link Reply.Failure} is given to it as well
   */
  record Ask(List<Request> requests, Function<List<Reply>, Plan> then) implements Plan {
    public Ask {
      requests = List.copyOf(requests);
    }

    /** Whether it walks through a keyspace. */
    public boolean scans() {
      for (Request request : requests) {
        if (request instanceof Request.Scan) {
          return true;
        }
      }
      return false;
    }
  }

  /** Whether a request changes something, or may. */
  static boolean isUpdate(Request request) {
    return !(request instanceof Request.Read
        || request instanceof Request.ReadAll
        || request instanceof Request.Scan
        || request instanceof Request.Spread
        || request instanceof Request.Through
        || request instanceof Request.Reach);
  }
}
