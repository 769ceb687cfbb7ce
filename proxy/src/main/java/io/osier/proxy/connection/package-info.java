/**
 * Internal: how the client reaches datacenters: connections over TCP and in the same process, the
 * greeting and the login, and which datacenter is nearest. It knows requests and replies, not
 * handles and sessions. No part of the API.
 */
@NullMarked
package io.osier.proxy.connection;

import org.jspecify.annotations.NullMarked;
