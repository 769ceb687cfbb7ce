package io.osier.propagation.net;

import io.osier.core.tls.TlsContext;

/**
 * How datacenters speak TLS with each other: both ends show a certificate, and each must name the
 * cluster and the datacenter that it says it is.
 *
 * @param accept for connections that others dial
 * @param dial for connections to others
 */
public record PeerTls(TlsContext accept, TlsContext dial) {}
