/**
 * Decides which updates are traced, and computes their trace ids from names and numbers, so that
 * everybody who knows an update knows its trace. It must not know who writes traces down.
 */
@NullMarked
package io.osier.core.trace;

import org.jspecify.annotations.NullMarked;
