/**
 * The TCP connections that carry frames between datacenters. Nothing here knows what a frame means.
 */
package io.osier.propagation.transport;
