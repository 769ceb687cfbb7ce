package io.osier.proxy.connection;

import io.osier.protocol.Request;
import io.osier.proxy.Connection;

/**
 * A request that waits to be sent, or for its answer.
 *
 * @param startNanos when it was made, by the client's timers
 * @param deadlineNanos when nobody waits for the answer any more
 */
record PendingRequest(
    Request request, Connection.Answered answered, long startNanos, long deadlineNanos) {}
