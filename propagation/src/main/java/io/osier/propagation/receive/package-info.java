/**
 * Decides what becomes of received updates: {@code Inbound} takes the peers' streams, {@code
 * UpdateApplier} joins an update to its object, {@code Visibility} says when it becomes visible
 * (each object at once, or cut by cut), and {@code ReceivedVector} knows which updates are here and
 * elsewhere. This package must not know what is sent.
 */
@NullMarked
package io.osier.propagation.receive;

import org.jspecify.annotations.NullMarked;
