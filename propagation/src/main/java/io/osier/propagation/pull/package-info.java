/**
 * Requests objects that are too large for a frame in pages: knows which peer was asked, what has
 * come, and when to repeat a request. It must not decide when something becomes visible.
 */
@NullMarked
package io.osier.propagation.pull;

import org.jspecify.annotations.NullMarked;
