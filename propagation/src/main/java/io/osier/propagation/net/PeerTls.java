package io.osier.propagation.net;

import io.osier.core.tls.TlsContext;

/**
 * The TLS contexts for connections between datacenters: both ends show a certificate, and each must
 * name the cluster and the datacenter that its owner claims to be.
 *
 * @param accept for connections that others dial
 * @param dial for connections to others
 */
public record PeerTls(TlsContext accept, TlsContext dial) {}
