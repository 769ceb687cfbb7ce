/**
 * Internal: connections to datacenters over TCP and in the same process, the greeting and the
 * login, and the choice of the nearest datacenter. It knows requests and replies, not handles and
 * sessions. No part of the API.
 */
@NullMarked
package io.osier.proxy.connection;

import org.jspecify.annotations.NullMarked;
