/**
 * What comes: the peers' streams ({@code Inbound}), how an update is joined to its object ({@code
 * Applier}) and when it becomes visible ({@code Visibility}: for each object at once, or cut by
 * cut), and what is known of what is here and elsewhere ({@code Knowledge}).
 */
@NullMarked
package io.osier.propagation.in;

import org.jspecify.annotations.NullMarked;
