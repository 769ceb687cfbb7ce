/**
 * Internal: one watcher: what it asks for next, when it asks again, and which values it brings
 * along. What its subscriber is told is made by the API. No part of it.
 */
@NullMarked
package io.osier.proxy.watch;

import org.jspecify.annotations.NullMarked;
