/**
 * Internal: the parts of a client: its settings, its connections, the limit of calls under way, its
 * listeners, and its closing. It knows no session and no call. No part of the API.
 */
@NullMarked
package io.osier.proxy.client;

import org.jspecify.annotations.NullMarked;
