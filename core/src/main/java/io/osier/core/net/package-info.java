/**
 * Carries frames on TCP connections: turns bytes into frames and messages into bytes, for clients
 * and datacenters alike. The lowest package that knows Netty. It must not know what the frames
 * mean.
 */
@NullMarked
package io.osier.core.net;

import org.jspecify.annotations.NullMarked;
