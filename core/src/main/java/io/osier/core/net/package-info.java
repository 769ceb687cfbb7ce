/**
 * Frames on TCP connections: how bytes become frames and messages become bytes, for clients and
 * datacenters alike. The lowest room that knows Netty.
 */
@NullMarked
package io.osier.core.net;

import org.jspecify.annotations.NullMarked;
