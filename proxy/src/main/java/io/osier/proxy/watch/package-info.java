/**
 * Internal: one watcher: what it polls for next, when it tries again, and which values it reads.
 * The API makes the signals that its subscriber gets. No part of the API.
 */
@NullMarked
package io.osier.proxy.watch;

import org.jspecify.annotations.NullMarked;
