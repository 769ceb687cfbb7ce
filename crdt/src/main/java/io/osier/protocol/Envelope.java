package io.osier.protocol;

/**
 * A request or a reply with the number by which the client knows it.
 *
 * @param id chosen by the client; unique among its open requests on the connection
 */
public record Envelope<M>(long id, M message) {}
