package io.osier.datacenter.forward;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;

/** Sees the answers to forwarded requests before they are passed on. */
@FunctionalInterface
public interface AnswerWitness {
  /**
   * A datacenter has answered.
   *
   * @param request as its client sent it
   * @param partition that the request is about; empty if it is about all of them
   * @param size of the answer on the link, in bytes
   */
  void answered(String dc, Request request, Optional<Integer> partition, Reply reply, int size);
}
