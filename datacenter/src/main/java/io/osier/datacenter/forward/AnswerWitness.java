package io.osier.datacenter.forward;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;

/** Hears what forwarded requests are answered, before that is passed on. */
@FunctionalInterface
public interface AnswerWitness {
  /**
   * A datacenter has answered.
   *
   * @param size of the answer on the link, in bytes
   */
  void answered(String dc, Request request, Reply reply, int size);
}
