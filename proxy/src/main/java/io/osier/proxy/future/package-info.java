/**
 * Internal: futures and subscriptions that callers get. It decides what giving up a future means,
 * which error its caller sees, and when a subscriber gets its signals; it does not know requests or
 * datacenters. No part of the API.
 */
@NullMarked
package io.osier.proxy.future;

import org.jspecify.annotations.NullMarked;
