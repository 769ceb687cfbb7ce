/**
 * Keeps credentials instead of passwords: SCRAM-SHA-256 (RFC 5802, RFC 7677), for clients,
 * operators' commands and datacenters alike. It must not know what a user may do.
 */
@NullMarked
package io.osier.core.scram;

import org.jspecify.annotations.NullMarked;
