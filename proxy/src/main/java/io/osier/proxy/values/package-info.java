/**
 * Encodes Java objects as values, and decodes them. A client is given one {@link
 * io.osier.proxy.values.Values} ({@link io.osier.proxy.OsierClient.Builder#values}), and its typed
 * handles use it.
 */
@NullMarked
package io.osier.proxy.values;

import org.jspecify.annotations.NullMarked;
