/**
 * Internal: what callers are given of what is not done yet. It decides what giving up a future
 * means, which error its caller sees, and when a subscriber is told what; it does not know what is
 * asked of whom. No part of the API.
 */
@NullMarked
package io.osier.proxy.future;

import org.jspecify.annotations.NullMarked;
