package io.osier.datacenter.config;

import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;

/**
 * How a datacenter speaks TLS on all of its ports.
 *
 * @param files its certificate and key, and the authorities that sign the other datacenters'
 * @param clientCertificates whether clients, and who asks the admin port, must show a certificate
 */
public record TlsSettings(
    TlsFiles files, boolean clientCertificates, TlsContext.Provider provider) {}
