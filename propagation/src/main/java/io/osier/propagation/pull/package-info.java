/**
 * Requests objects that are too large for a frame in pages: knows the peer that was asked and the
 * received pages, and when to repeat a request. It must not decide when something becomes visible.
 */
@NullMarked
package io.osier.propagation.pull;

import org.jspecify.annotations.NullMarked;
