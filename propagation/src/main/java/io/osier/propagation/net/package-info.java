/**
 * The TCP connections between datacenters: who is dialled, who is let in, who is at the other end
 * and which version is spoken. Nothing here knows what a frame means.
 */
@NullMarked
package io.osier.propagation.net;

import org.jspecify.annotations.NullMarked;
