package io.osier.datacenter.server;

/** Who waits for an answer and hears how far the request has come. Called by any thread. */
interface Phased {
  /** Its partition has taken it. */
  void taken(long nanos);

  /** Its batch is through; what is left is that its records become durable. */
  void executed(long nanos);
}
