/**
 * What comes: the peers' streams ({@code Inbound}), how an update is joined to its object ({@code
 * UpdateApplier}), when it becomes visible ({@code Visibility}: for each object at once, or cut by
 * cut), and what is known of what is here and elsewhere ({@code ReceivedVector}). It does not know
 * what is sent.
 */
@NullMarked
package io.osier.propagation.receive;

import org.jspecify.annotations.NullMarked;
