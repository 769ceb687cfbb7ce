/**
 * Internal: what a session has seen, of each partition, and where its requests go: the nearest
 * datacenter, another one after a loss, or the one where it is pinned. It decides what a request
 * must carry of the past; it does not know what is asked. No part of the API.
 */
@NullMarked
package io.osier.proxy.session;

import org.jspecify.annotations.NullMarked;
