/**
 * What datacenters keep instead of passwords, and how it is made of one: SCRAM-SHA-256 (RFC 5802,
 * RFC 7677), for clients, operators' commands and datacenters alike.
 */
@NullMarked
package io.osier.core.scram;

import org.jspecify.annotations.NullMarked;
