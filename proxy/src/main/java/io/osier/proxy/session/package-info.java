/**
 * Internal: what a session has seen of each partition, and where its requests go: to the nearest
 * datacenter, to another one after a loss, or to the one where it is pinned. It decides which
 * version vector a request must carry; it does not know what is asked. No part of the API.
 */
@NullMarked
package io.osier.proxy.session;

import org.jspecify.annotations.NullMarked;
