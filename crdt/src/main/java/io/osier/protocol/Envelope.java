package io.osier.protocol;

/**
 * A request or a reply with the client's number for it.
 *
 * @param id chosen by the client; unique among its open requests on the connection
 */
public record Envelope<M>(long id, M message) {}
