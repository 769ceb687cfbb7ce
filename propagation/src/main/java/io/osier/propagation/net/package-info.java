/**
 * Keeps the TCP connections between datacenters: dials peers, decides which processes are accepted,
 * and which version of the protocol is spoken. It must not know what a frame means.
 */
@NullMarked
package io.osier.propagation.net;

import org.jspecify.annotations.NullMarked;
