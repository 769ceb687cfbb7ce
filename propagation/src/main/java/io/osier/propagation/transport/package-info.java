/**
 * The TCP connections that carry frames between datacenters. Nothing here knows what a frame means.
 */
@NullMarked
package io.osier.propagation.transport;

import org.jspecify.annotations.NullMarked;
