package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.List;
import java.util.function.Function;

/**
 * What is to be done for a command: an answer, or requests to partitions and what follows from
 * their replies.
 */
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
   * Requests to partitions.
   *
   * @param requests one or more, which are asked side by side
   * @param then returns what follows from the replies, which are in the order of the requests; must
   *     not block. Any thread may call it for a data command, since the plan for much data is made
   *     beside the connection's loop. Among the replies may be a {@link Reply.Failure}
   */
  record Ask(List<Request> requests, Function<List<Reply>, Plan> then) implements Plan {
    public Ask {
      requests = List.copyOf(requests);
    }

    /** Returns whether a request walks through a keyspace. */
    public boolean scans() {
      for (Request request : requests) {
        if (request instanceof ScanRequest) {
          return true;
        }
      }
      return false;
    }
  }

  /** Returns whether a request changes something, or may. */
  static boolean isUpdate(Request request) {
    return !(request instanceof Request.Read
        || request instanceof Request.ReadAll
        || request instanceof ScanRequest
        || request instanceof ProgressRequest);
  }
}
