package io.osier.proxy.connection;

import io.osier.protocol.Request;
import io.osier.proxy.Connection;

/**
 * A request that waits to be sent, or for its answer.
 *
 * @param startNanos when the request was made, by the client's timers
 * @param deadlineNanos when its caller stops waiting for the answer, by the same clock
 */
record PendingRequest(
    Request request, Connection.Answered answered, long startNanos, long deadlineNanos) {}
